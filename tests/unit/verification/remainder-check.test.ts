import { describe, expect, test } from "bun:test";
import type { ProofEnd, Remainder } from "@ostiary/lib/contracts/audit";
import { Findings } from "@ostiary/lib/verification/findings";
import { ChainCheck } from "../../../lib/verification/chain-check.ts";
import { RemainderCheck } from "../../../lib/verification/remainder-check.ts";
import { droppedMonths, twoDays } from "../../support/audit/proof-exports.ts";
import { OWNER } from "../../support/audit/proof-log.ts";
import { endIn } from "../../support/audit/verify-lines.ts";

const chain = "0".repeat(64);
const salt = "0".repeat(32);

/** Returns an object whose reads of fields and items, also inside, are counted. */
function counted<Value extends object>(value: Value, reads: { count: number }): Value {
  const inner = new Map<object, object>();
  return new Proxy(value, {
    get(target, name, receiver) {
      reads.count += 1;
      const found: unknown = Reflect.get(target, name, receiver);
      if (typeof found !== "object" || found === null) return found;
      const known = inner.get(found) ?? counted(found, reads);
      inner.set(found, known);
      return known;
    },
  });
}

/** Checks the rest of a chain, and returns the reads of the last line and of findings. */
function readsOf(end: ProofEnd, retention: Remainder[], changes = 0): number {
  const reads = { count: 0 };
  const findings = new Findings();
  const check = new RemainderCheck(
    counted({ ...end, retention }, reads),
    findings,
    new ChainCheck(findings),
    {
      from: null,
    },
  );
  check.check();
  for (let position = 1; position <= changes; position++) {
    findings.add("entry_changed", counted({ position }, reads));
  }
  check.giveUp();
  return reads.count;
}

function ofEach(count: number, ...kinds: ((position: number) => Remainder)[]): Remainder[] {
  return kinds.flatMap((item, kind) => Array.from({ length: count }, (_, at) => item(kind * count + at + 1)));
}

const lost = (from: number): Remainder => ({ kind: "lost", from, to: from, chain });
const dropped = (from: number): Remainder => ({ kind: "dropped", from, to: from, chain });
const declared = { salt, chain, declared_at: "2026-04-03T00:00:00.000Z" };
const restart = (position: number): Remainder => ({ kind: "restart", position, from: position, ...declared });
const retention = (position: number): Remainder => ({
  kind: "retention",
  position,
  month: "2026-01",
  ...declared,
});

// AU-65
describe("the work for the rest of a chain grows with its length alone", () => {
  test.each<[string, (count: number) => Promise<number>]>([
    [
      "for lost entries and restarts",
      async (count) => readsOf(endIn(await twoDays().export(OWNER)), ofEach(count, lost, restart)),
    ],
    [
      "for changed entries and restarts",
      async (count) => readsOf(endIn(await twoDays().export(OWNER)), ofEach(count, restart), count),
    ],
    [
      "for dropped entries and declared months",
      async (count) => readsOf(endIn(await droppedMonths().export(OWNER)), ofEach(count, dropped, retention)),
    ],
  ])("%s", async (_title, work) => {
    const [few, many] = [await work(200), await work(2_000)];
    expect(many).toBeLessThan(11 * few);
  });
});
