import { describe, expect, test } from "bun:test";
import { BATCH_BYTES_MAX, batchOf, OPERATOR_STREAM, type Part } from "../../../apps/audit/streams/batch.ts";
import type { EntryRow } from "../../../apps/audit/streams/entry.ts";

const AFTER = { position: 0, chain: "" };
/** The number of bytes that a part adds beside its entries, at most. */
const PART_BYTES = 512;

/** Returns an entry that adds `bytes` to a body, with the comma after it. */
function entryOf(bytes: number): EntryRow {
  const row = { is_outcome: false, salt: null, occurred_at: "", event: null, declaration: null };
  const { length } = JSON.stringify({ position: 1, kind: "dropped", chain: "" });
  return { ...row, position: 1, chain: "x".repeat(bytes - 1 - length) };
}

const part = (organization_id: string, ...sizes: number[]): Part => ({
  organization_id,
  after: AFTER,
  entries: sizes.map(entryOf),
});

function taken(...parts: Part[]): [organization_id: string, entries: number][] {
  const batch = batchOf({ id: OPERATOR_STREAM, format: "ostiary" }, parts, 0);
  const { data } = JSON.parse(String(batch.body));
  const shown = data.organizations.map(({ organization_id, entries }: Part) => [
    organization_id,
    entries.length,
  ]);
  expect(batch.parts.map(({ organization_id, entries }) => [organization_id, entries.length])).toEqual(shown);
  return shown;
}

const REST = BATCH_BYTES_MAX - PART_BYTES;

// AU-102, AU-110
describe("a delivery request", () => {
  test("has as many entries as fit into the maximum size exactly", () => {
    expect(taken(part("a", 1_000, REST - 1_000))).toEqual([["a", 2]]);
    expect(taken(part("a", 1_000, REST - 999))).toEqual([["a", 1]]);
  });

  test("has one entry that is larger than the maximum, and no other", () => {
    expect(taken(part("a", REST + 1, 100), part("b", 100))).toEqual([["a", 1]]);
  });

  test("ends at the first entry that does not fit, also between organizations", () => {
    const half = REST / 2;
    expect(taken(part("a", half), part("b", half - PART_BYTES), part("c", 100))).toEqual([
      ["a", 1],
      ["b", 1],
    ]);
    expect(taken(part("a", half), part("b", half), part("c", 100))).toEqual([["a", 1]]);
    expect(taken(part("a", half), part("b", 100, half, 100), part("c", 100))).toEqual([
      ["a", 1],
      ["b", 1],
    ]);
  });

  test("to an organization's own receiver names the organization once", () => {
    const { body } = batchOf({ id: "s-1", format: "ostiary" }, [part("a", 100)], 0);
    expect(JSON.parse(String(body))).toMatchObject({
      type: "audit.entries",
      timestamp: "1970-01-01T00:00:00.000Z",
      data: { stream_id: "s-1", organization_id: "a", after: AFTER, entries: [{ kind: "dropped" }] },
    });
  });
});
