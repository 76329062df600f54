import type { EarlierHead, ProofEnd } from "../contracts/audit/index.ts";
import { type ChainRange, type Checkpoint, hashFromHex, hexOf, isInMap } from "../domain/proof/index.ts";
import type { ChainCheck } from "./chain-check.ts";
import type { ProblemFinding } from "./finding-codes.ts";
import type { Problems } from "./problems.ts";

/** An earlier checkpoint whose head for this log is on the chain of the export. */
export interface UsedHead {
  checkpoint: number;
  sealed_at: string;
  position: number;
}

interface Checks {
  problems: Problems;
  chain: ChainCheck;
  /** The ranges of dropped entries. */
  dropped: readonly ChainRange[];
}

/**
 * Checks the heads of a log at earlier checkpoints. A head must be in its checkpoint's map, and on the chain
 * or in a dropped range. Positions must not decrease. Returns the heads on the chain.
 */
export function checkHeads({ head, checkpoint, heads = [] }: ProofEnd, checks: Checks): UsedHead[] {
  const used: UsedHead[] = [];
  let last = { number: 0, position: 0 };
  for (const earlier of heads) {
    const { number, sealed_at } = earlier.checkpoint;
    const { position } = earlier;
    if (number <= last.number || number >= (checkpoint?.number ?? 0)) {
      checks.problems.add({ code: "head_out_of_order", checkpoint: number });
    }
    const problem = position < last.position ? wentBack(earlier, last) : problemOf(earlier, head, checks);
    if (problem !== null) checks.problems.add(problem, { position });
    else if (checks.chain.valueAt(position) !== null) {
      used.push({ checkpoint: number, sealed_at, position });
    }
    last = { number, position: Math.max(position, last.position) };
  }
  return used;
}

function wentBack(
  { position, checkpoint }: EarlierHead,
  last: { number: number; position: number },
): ProblemFinding {
  return {
    code: "head_went_back",
    position,
    checkpoint: checkpoint.number,
    lastPosition: last.position,
    lastCheckpoint: last.number,
  };
}

/** Returns the problem of a head, or null if the head is on the chain or in a dropped range. */
function problemOf(
  { checkpoint, position, chain, map }: EarlierHead,
  { owner, position: end }: ProofEnd["head"],
  { chain: check, dropped }: Checks,
): ProblemFinding | null {
  const at = { position, checkpoint: checkpoint.number };
  const read = { owner, position, chain: hashFromHex(chain) };
  if (checkpoint.map === undefined || !isInMap(read, map, hashFromHex(checkpoint.map))) {
    return { code: "head_not_in_map", ...at };
  }
  if (position > end) return { code: "head_not_reached", ...at };
  const value = check.valueAt(position);
  if (value !== null) return hexOf(value) === chain ? null : { code: "head_rewritten", ...at };
  return dropped.some(({ from, to }) => from <= position && position <= to)
    ? null
    : { code: "head_without_entry", ...at };
}

const DAY_MS = 86_400_000;
const DAY_LENGTH = "2026-01-31".length;
const DAYS_MAX = 100_000;

/** Days in UTC without a head in an export, as dates. */
interface DaysWithoutHead {
  count: number;
  first: string;
  last: string;
}

/** Returns the days in UTC before the checkpoint's day that have no head in the export, or null if there are none. */
export function daysWithoutHead(
  from: string | null,
  { sealed_at }: Checkpoint,
  heads: readonly UsedHead[],
): DaysWithoutHead | null {
  const shown = new Set(heads.map((head) => head.sealed_at.slice(0, DAY_LENGTH)));
  const [firstMs, lastMs] = [
    Date.parse(from?.slice(0, DAY_LENGTH) ?? ""),
    Date.parse(sealed_at.slice(0, DAY_LENGTH)),
  ];
  const missing: string[] = [];
  for (let dayMs = firstMs; dayMs < lastMs && missing.length < DAYS_MAX; dayMs += DAY_MS) {
    const day = new Date(dayMs).toISOString().slice(0, DAY_LENGTH);
    if (!shown.has(day)) missing.push(day);
  }
  const [first] = missing;
  if (first === undefined) return null;
  return { count: missing.length, first, last: missing.at(-1) ?? first };
}
