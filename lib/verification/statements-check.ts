import type { ProofEnd } from "../contracts/audit/index.ts";
import {
  entryHash,
  hashFromHex,
  monthEnd,
  monthStart,
  proofTime,
  type Statement,
  statementEntry,
} from "../domain/proof/index.ts";
import { SUM_NAMES, type UsageSums } from "../domain/usage/index.ts";
import type { ChainCheck } from "./chain-check.ts";
import type { StatementFlaw } from "./finding-codes.ts";
import type { Problems } from "./problems.ts";

/** The largest difference that is accepted between the clocks of replicas. */
const CLOCKS_MS = 60 * 60 * 1000;

/** A statement of usage on the chain of the export. */
export interface StatedUsage extends UsageSums {
  id: string;
  month: string;
  position: number;
  /** The id of the statement that this statement corrects, or null for the first statement of a month. */
  corrects: string | null;
}

type Placed = NonNullable<ProofEnd["statements"]>[number];

/**
 * Checks that each statement of usage in an export is plausible and unchanged since it was sealed (AU-132). Returns
 * the current statement of each month, the oldest month first. Leaves out corrected statements.
 */
export function checkStatements(
  end: ProofEnd,
  { problems, chain }: { problems: Problems; chain: ChainCheck },
): StatedUsage[] {
  const holding = new Map<string, Placed>();
  let last = 0;
  for (const placed of end.statements ?? []) {
    const { position, salt, chain: value, ...statement } = placed;
    const hash = entryHash(statementEntry(end.head.owner, statement, salt));
    const { id } = statement;
    const named = { entry: "statement", id } as const;
    chain.add({ position, event_id: null, named, hash, chain: hashFromHex(value) });
    const why: StatementFlaw | null =
      position <= last
        ? { flaw: "out_of_order" }
        : whyUnsound(statement, end, holding.get(statement.month)?.id ?? null);
    last = position;
    if (why !== null) problems.add({ code: "statement_unsound", id, position, why }, { position });
    holding.set(statement.month, placed);
  }
  return [...holding.values()].map(shown).toSorted((a, b) => (a.month < b.month ? -1 : 1));
}

function shown({ id, month, position, corrects, ...rest }: Placed): StatedUsage {
  return { id, month, position, corrects, ...sumsOf(rest) };
}

function sumsOf(sums: UsageSums): UsageSums {
  const { requests, refused, refused_limit, refused_labels, refused_other, failed, ...rest } = sums;
  const { bytes_in, bytes_out, duration_ms } = rest;
  const refusals = { refused, refused_limit, refused_labels, refused_other };
  return { requests, ...refusals, failed, bytes_in, bytes_out, duration_ms };
}

/** Returns the reason why a statement is not plausible, or null if it is plausible. */
function whyUnsound(statement: Statement, end: ProofEnd, before: string | null): StatementFlaw | null {
  return (
    whyWrongTime(statement, end.checkpoint?.sealed_at ?? null) ??
    whyWrongPlace(statement, end.head.owner, before) ??
    whyWrongSums(statement)
  );
}

function whyWrongTime(
  { month, from, to, stated_at }: Statement,
  sealed_at: string | null,
): StatementFlaw | null {
  const isMonth = proofTime(from) === monthStart(month) && proofTime(to) === monthEnd(month);
  if (!isMonth) return { flaw: "month" };
  const statedMs = proofTime(stated_at);
  const sealedMs = sealed_at === null ? null : proofTime(sealed_at);
  if (statedMs === null) return { flaw: "no_time" };
  if (statedMs < monthEnd(month)) return { flaw: "too_early" };
  return sealedMs === null || statedMs > sealedMs + CLOCKS_MS ? { flaw: "after_checkpoint" } : null;
}

function whyWrongPlace(
  { id, month, corrects }: Statement,
  owner: string,
  before: string | null,
): StatementFlaw | null {
  if (!owner.startsWith("organization:")) return { flaw: "not_of_organization" };
  const number = before === null ? 1 : Number(before.slice(before.indexOf(".") + 1)) + 1;
  const expected = `${month}.${number}`;
  if (id !== expected) return { flaw: "number", expected };
  return corrects === before ? null : { flaw: "corrects" };
}

function whyWrongSums({ services, policies, ...total }: Statement): StatementFlaw | null {
  for (const name of SUM_NAMES) {
    if (services.reduce((sum, each) => sum + each[name], 0) !== total[name]) {
      return { flaw: "sum", name, value: total[name] };
    }
  }
  const isSorted =
    isRising(services.map(({ service }) => [service])) &&
    isRising(policies.map(({ policy, service }) => [policy, service ?? ""]));
  if (!isSorted) return { flaw: "repeated_names" };
  const isWhole = [total, ...services, ...policies].every(
    (sums) => sums.refused === sums.refused_limit + sums.refused_labels + sums.refused_other,
  );
  return isWhole ? null : { flaw: "refusals" };
}

/**
 * Returns whether each name is greater than the previous one. Compares the first parts of two names, and the second
 * parts only if the first parts are equal.
 */
function isRising(names: readonly string[][]): boolean {
  return names.every((name, index) => {
    const before = names[index - 1];
    if (before === undefined) return true;
    const [first = "", second = ""] = name;
    const [firstBefore = "", secondBefore = ""] = before;
    return first === firstBefore ? second > secondBefore : first > firstBefore;
  });
}
