import { INTERNAL_TOKEN_HEADER } from "@ostiary/lib/contracts/internal-api";
import { type EnglishVerdict, inEnglish, verifyExport } from "@ostiary/lib/verification";
import { waitFor } from "../../support/time/wait-for.ts";
import { INTERNAL_TOKEN } from "../faults/system/people.ts";
import type { System } from "../faults/system/system.ts";

const SEALED_MS = 60_000;

/**
 * Verifies the proof of an organization's log, which several versions may have written. Describes each
 * problem.
 */
export async function brokenProof({ audit }: System, organization_id: string): Promise<string[]> {
  const url = `${audit[0]?.url}/organizations/${organization_id}/audit-events?proof=true`;
  let verdict: EnglishVerdict | null = null;
  const isComplete = async () => {
    verdict = await verdictOn(url);
    return verdict.complete;
  };
  // Retry, because the newest events may not be sealed yet.
  await waitFor(isComplete, { timeoutMs: SEALED_MS }).catch(() => {});
  if (verdict === null) return ["proof: the log cannot be exported"];
  const { complete, faults, undecided }: EnglishVerdict = verdict;
  return complete ? [] : [`proof: ${[...faults.map(({ message }) => message), ...undecided].join(" ")}`];
}

async function verdictOn(url: string): Promise<EnglishVerdict> {
  const answer = await fetch(url, {
    headers: { accept: "application/x-ndjson", [INTERNAL_TOKEN_HEADER]: INTERNAL_TOKEN },
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
  const given = { keys: null, kept: { checkpoints: [], end: null }, witnesses: null };
  return inEnglish(await verifyExport(linesOf(text), given));
}

async function* linesOf(text: string) {
  for (const line of text.split("\n")) if (line !== "") yield line;
}
