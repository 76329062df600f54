import {
  type ProofEnd,
  type ProvenEvent,
  proofEndSchema,
  provenOrganizationEventSchema,
} from "@ostiary/lib/contracts/audit";
import { fits } from "@ostiary/lib/domain/errors";
import { parseIJson } from "@ostiary/lib/domain/json";
import {
  type KeptRoot,
  readKeptRoot,
  type Verdict,
  type VerifyGiven,
  verifyExport,
} from "@ostiary/lib/verification";

const NOTHING: VerifyGiven = { owner: null, keys: null, roots: [], witnesses: null };

/** Verifies lines with what the reader gives besides. */
export function verify(lines: readonly string[], given: Partial<VerifyGiven> = {}): Promise<Verdict> {
  return verifyExport(streamed(lines), { ...NOTHING, ...given });
}

async function* streamed<Item>(items: readonly Item[]): AsyncGenerator<Item, void, void> {
  yield* items;
}

/** Returns a file that the reader kept as a root. */
export async function kept(text: string, name = "kept.txt"): Promise<KeptRoot> {
  const root = await readKeptRoot(name, streamed([new TextEncoder().encode(text)]));
  if (root === null) throw new Error(`${name} has no root`);
  return root;
}

/** Returns a verdict's result and the codes of its findings without duplicates, such as `altered event_late`. */
export function summaryOf(verdict: Verdict): string {
  return [verdict.result, ...codesOf(verdict)].join(" ");
}

/** Returns the codes of a verdict's findings, without duplicates. */
export function codesOf({ findings }: Verdict): string[] {
  return [...new Set(findings.map(({ code }) => code))];
}

/** Reads a line of an organization's export. */
export function eventIn(line = ""): ProvenEvent {
  const value = parseIJson(line);
  if (!fits(provenOrganizationEventSchema, value)) throw new Error("The line is not an event.");
  return value;
}

/** Reads the last line of an export. */
export function endIn(lines: readonly string[]): ProofEnd {
  const value = parseIJson(lines.at(-1) ?? "");
  if (!fits(proofEndSchema, value)) throw new Error("The line is not the last line of an export.");
  return value;
}
