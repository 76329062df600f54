/**
 * The vectors of the proof's format: good exports, and edits of them. `bun tests/unit/verification/vectors.ts` writes
 * them.
 */
import { join } from "node:path";
import type { Verdict } from "@ostiary/lib/verification";
import { goodExports, type TestExport, withTime } from "../../support/audit/proof-exports.ts";
import { OWNER } from "../../support/audit/proof-log.ts";

export const VECTORS = join(import.meta.dir, "vectors.ndjson");

/** A change of one line: its removal, or another value at a path. */
export type Edit = { remove: number } | { line: number; path: (string | number)[]; value: unknown };

/** A changed export, and what its reader gives instead. */
export interface EditedExport {
  title: string;
  /** The title of the unchanged export. */
  of: string;
  edits: Edit[];
  given?: Partial<Pick<TestExport, "owner" | "keys" | "roots" | "witness_keys" | "quorum">>;
  result: Verdict["result"];
}

const ONE = "an organization's log";
const KEPT = "a kept root and two witnesses";
const DROPPED = "dropped months";

function edited(of: string, title: string, ...edits: Edit[]): EditedExport {
  return { title: `${of}: ${title}`, of, edits, result: "altered" };
}

function at(line: number, path: string, value: unknown): Edit {
  return { line, path: path.split(".").map((name) => (/^\d+$/.test(name) ? Number(name) : name)), value };
}

/** Returns the edits, and their right verdicts. */
function editedExports(good: readonly TestExport[]): EditedExport[] {
  const end = (title: string) => (good.find((each) => each.title === title)?.lines.length ?? 1) - 1;
  const zeros = "0".repeat(64);
  return [
    edited(ONE, "another status", at(1, "status", 500)),
    edited(ONE, "other details", at(3, "details.name.to", "B")),
    edited(ONE, "another actor", at(1, "actor.member_id", "forged")),
    edited(ONE, "a member that the intent did not write", at(1, "proof.outcome.intent_member_id", "forged")),
    edited(ONE, "another time in the same month", at(1, "occurred_at", "2026-01-07T10:00:05.001Z")),
    edited(ONE, "a pending event with a status", at(0, "status", 200)),
    edited(ONE, "a pending event with details", at(0, "details", { forged: true })),
    edited(ONE, "a pending event with a response", at(0, "outcome", "responded"), at(0, "status", 200)),
    edited(ONE, "an unknown field", at(0, "proof.intent.member_id", "forged")),
    edited(ONE, "the newest event removed", { remove: 0 }),
    edited(ONE, "a middle event removed", { remove: 2 }),
    edited(ONE, "the last line removed", { remove: end(ONE) }),
    edited(ONE, "another owner", at(end(ONE), "head.owner", "organization:zenith")),
    edited(ONE, "another leaf", at(end(ONE), "leaf.sealed_at", "2026-01-07T10:00:08.000Z")),
    edited(ONE, "another path", at(end(ONE), "path.0", zeros)),
    edited(ONE, "another map", at(end(ONE), "map.path.0", zeros)),
    { ...edited(ONE, "another format", at(end(ONE), "format", 2)), result: "undecided" },
    { ...edited(ONE, "asked for another owner"), given: { owner: "organization:zenith" } },
    edited(KEPT, "an earlier head that is another one", at(end(KEPT), "heads.0.chain", zeros)),
    edited(KEPT, "an earlier tree that is another one", at(end(KEPT), "heads.1.tree.root", zeros)),
    { ...edited(KEPT, "three witnesses asked for"), given: { quorum: 3 }, result: "undecided" },
    {
      ...edited(KEPT, "nothing kept, nobody trusted"),
      given: { roots: [], witness_keys: [] },
      result: "complete",
    },
    edited(DROPPED, "an event of the next month declared away", ...declaredAway(good, end(DROPPED))),
    edited(DROPPED, "another content", at(end(DROPPED), "retention.1.contents.0", zeros)),
    edited(DROPPED, "another month of the content", at(end(DROPPED), "retention.1.month", "2026-01")),
    edited(DROPPED, "a month that is not over", at(end(DROPPED), "retention.3.month", "2026-04")),
  ];
}

/** Removes the oldest event of a log with dropped months, and adds its entries to the dropped ones. */
function declaredAway(good: readonly TestExport[], last: number): Edit[] {
  const lines = good.find(({ title }) => title === DROPPED)?.lines ?? [];
  const { proof } = JSON.parse(lines.at(-2) ?? "");
  const { retention } = JSON.parse(lines.at(-1) ?? "");
  const run = {
    kind: "dropped",
    from: proof.intent.position,
    to: proof.outcome.position,
    chain: proof.outcome.chain,
  };
  const items = [...retention.slice(0, 2), run, ...retention.slice(2)];
  return [at(last, "retention", items), { remove: last - 1 }];
}

/** Returns an export with an event that was sealed with a time of the month before. */
async function backDated(): Promise<TestExport> {
  const title = "an event with a time long before its id";
  const lines = await withTime("2025-12-07T10:00:00.000Z").export(OWNER);
  return { title, lines, owner: OWNER, keys: [], roots: [], witness_keys: [], quorum: 0, result: "altered" };
}

/** Returns the text of the file of vectors. */
export async function vectorsText(): Promise<string> {
  const good = await goodExports();
  return [...good, await backDated(), ...editedExports(good)]
    .map((vector) => `${JSON.stringify(vector)}\n`)
    .join("");
}

/** Returns the lines of an export after edits. */
export function withEdits(lines: readonly string[], edits: readonly Edit[]): string[] {
  return edits.reduce((changed, edit) => withEdit(changed, edit), [...lines]);
}

function withEdit(lines: readonly string[], edit: Edit): string[] {
  if ("remove" in edit) return lines.toSpliced(edit.remove, 1);
  const value: unknown = JSON.parse(lines[edit.line] ?? "");
  let inner = Object(value);
  for (const name of edit.path.slice(0, -1)) inner = Object(inner[name]);
  inner[edit.path.at(-1) ?? ""] = edit.value;
  return lines.with(edit.line, JSON.stringify(value));
}

if (import.meta.main) await Bun.write(VECTORS, await vectorsText());
