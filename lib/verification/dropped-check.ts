import type { ProofEnd } from "../contracts/audit/index.ts";
import {
  type ChainRange,
  entryHash,
  hashFromHex,
  monthEnd,
  monthStart,
  proofTime,
  retentionEntry,
} from "../domain/proof/index.ts";
import type { ChainCheck } from "./chain-check.ts";
import type { EventsCheck } from "./event-lines-check.ts";
import type { DeclarationFlaw } from "./finding-codes.ts";
import type { Problems } from "./problems.ts";

/** The largest difference that is accepted between the clocks of replicas. */
const CLOCKS_MS = 60 * 60 * 1000;
/**
 * The overlap of two months in a chain: two days, because the time of an intent may differ from audit's clock
 * by a day.
 */
const MONTH_EDGE_MS = 48 * 60 * 60 * 1000;

type Declaration = NonNullable<ProofEnd["retention"]>[number];

/** Entries that the file lacks because their months were dropped. */
export interface Dropped {
  entries: number;
  /** The end of the last dropped month, or null when nothing was dropped. */
  before: string | null;
  ranges: readonly ChainRange[];
}

interface Checks {
  problems: Problems;
  chain: ChainCheck;
  events: EventsCheck;
}

/**
 * Accepts missing entries if a declaration in the chain drops their month. An older version of Ostiary dropped
 * months without declarations: for such a month, the missing entries become an open question.
 */
export function checkDropped(end: ProofEnd, checks: Checks): Dropped {
  const declared = checkDeclarations(end, checks);
  const claimed = checkClaim(end, checks);
  const ranges = [...declared.ranges, ...claimed.ranges];
  const beforeMs = Math.max(declared.beforeMs, claimed.beforeMs);
  return {
    entries: ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0),
    before: ranges.length === 0 ? null : new Date(beforeMs).toISOString(),
    ranges,
  };
}

interface Absent {
  ranges: ChainRange[];
  beforeMs: number;
}

const NOTHING: Absent = { ranges: [], beforeMs: Number.NEGATIVE_INFINITY };

function checkDeclarations(end: ProofEnd, checks: Checks): Absent {
  const { problems, chain, events } = checks;
  const declarations = end.retention ?? [];
  for (const { position, salt, chain: value, ...retention } of declarations) {
    const hash = entryHash(retentionEntry(end.head.owner, retention, salt));
    const named = { entry: "retention", month: retention.month } as const;
    chain.add({ position, event_id: null, named, hash, chain: hashFromHex(value) });
  }
  const sound = declarations.filter((declaration) => isSound(declaration, end, problems));
  const absent = sound.map(({ month, ranges }) => ({ month, ranges: chain.bridge(ranges) }));
  const dropped = absent.filter(({ ranges }) => ranges.length > 0);
  if (dropped.length === 0) return NOTHING;
  const beforeMs = Math.max(...dropped.map(({ month }) => monthEnd(month)));
  refuseOlderEvents(beforeMs, checks);
  for (const { month, ranges } of dropped) {
    const least = events.leastPlaceFrom(monthEnd(month) + MONTH_EDGE_MS);
    for (const { from, to } of ranges.filter((range) => range.to > least)) {
      problems.leaveOpen({ code: "dropped_late", from, to, month });
    }
  }
  return { ranges: dropped.flatMap(({ ranges }) => ranges), beforeMs };
}

/**
 * Returns whether a declaration is plausible: its month is over, and the entries that it names come before the
 * declaration.
 */
function isSound(
  { month, declared_at, ranges, position }: Declaration,
  { checkpoint }: ProofEnd,
  problems: Problems,
): boolean {
  const refused = (flaw: DeclarationFlaw) => {
    problems.add({ code: "declaration_unsound", month, position, flaw }, { position });
    return false;
  };
  const declaredMs = proofTime(declared_at);
  const sealedMs = checkpoint === null ? null : proofTime(checkpoint.sealed_at);
  if (declaredMs === null) return refused("no_time");
  if (sealedMs === null || declaredMs > sealedMs + CLOCKS_MS || monthEnd(month) > sealedMs) {
    return refused("after_checkpoint");
  }
  if (monthEnd(month) > declaredMs) return refused("before_month_end");
  let last = 0;
  for (const { from, to } of ranges) {
    if (from <= last || to < from) return refused("places_out_of_order");
    last = to;
  }
  return last < position || refused("places_after_it");
}

/** Checks dropped months that a file of an older version of Ostiary lists without a declaration. */
function checkClaim({ dropped, checkpoint }: ProofEnd, checks: Checks): Absent {
  if (dropped === null || dropped.ranges.length === 0) return NOTHING;
  const { problems, chain, events } = checks;
  const { occurred_before } = dropped;
  const beforeMs = proofTime(occurred_before);
  const sealedMs = checkpoint === null ? null : proofTime(checkpoint.sealed_at);
  if (beforeMs === null || beforeMs !== monthStart(occurred_before.slice(0, "2026-01".length))) {
    problems.add({ code: "claim_not_month_start", before: occurred_before });
    return NOTHING;
  }
  if (sealedMs === null || beforeMs > sealedMs) {
    problems.add({ code: "claim_after_checkpoint", before: occurred_before });
    return NOTHING;
  }
  refuseOlderEvents(beforeMs, checks);
  const least = events.leastPlaceFrom(beforeMs + MONTH_EDGE_MS);
  for (const { from, to } of dropped.ranges.filter((range) => range.to > least)) {
    problems.add({ code: "claim_behind_newer_events", from, to }, { position: from });
  }
  const ranges = chain.bridge(dropped.ranges.filter(({ from, to }) => from <= to));
  for (const { from, to } of ranges) {
    problems.leaveOpen({ code: "dropped_undeclared", from, to, before: occurred_before });
  }
  return { ranges, beforeMs };
}

function refuseOlderEvents(beforeMs: number, { problems, events }: Checks): void {
  const fromMs = events.from === null ? null : proofTime(events.from);
  if (fromMs === null || fromMs >= beforeMs) return;
  const before = new Date(beforeMs).toISOString();
  problems.add({ code: "dropped_event_shown", before });
}
