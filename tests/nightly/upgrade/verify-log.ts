import { INTERNAL_TOKEN_HEADER } from "@ostiary/lib/contracts/internal-api";
import { englishOf, type Verdict, verifyExport } from "@ostiary/lib/verification";
import { waitFor } from "../../support/time/wait-for.ts";
import { INTERNAL_TOKEN } from "../faults/system/asking.ts";
import type { System } from "../faults/system/system.ts";

const SEALED_MS = 60_000;

/**
 * Verifies the proof of an organization's log, which several versions may have written. Describes each
 * problem.
 */
export async function brokenProof({ audit }: System, organization_id: string): Promise<string[]> {
  const url = `${audit[0]?.url}/organizations/${organization_id}/audit-events?proof=true`;
  let verdict: Verdict | null = null;
  const isComplete = async () => {
    verdict = await verdictOn(url, `organization:${organization_id}`);
    return isWhole(verdict);
  };
  // Retry, because the newest events may not be sealed yet.
  await waitFor(isComplete, { timeoutMs: SEALED_MS }).catch(() => {});
  if (verdict === null) return ["proof: the log cannot be exported"];
  const decided: Verdict = verdict;
  return isWhole(decided) ? [] : [`proof: ${decided.findings.map(englishOf).join(" ")}`];
}

/** Returns whether nothing is wrong with a log. The audit services of these runs have no key, so no root is signed. */
function isWhole({ findings }: Verdict): boolean {
  return findings.every(({ code }) => code === "no_signed_root");
}

async function verdictOn(url: string, owner: string): Promise<Verdict> {
  const response = await fetch(url, {
    headers: { accept: "application/x-ndjson", [INTERNAL_TOKEN_HEADER]: INTERNAL_TOKEN },
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  return verifyExport(linesOf(text), { owner, keys: null, roots: [], witnesses: null });
}

async function* linesOf(text: string) {
  for (const line of text.split("\n")) if (line !== "") yield line;
}
