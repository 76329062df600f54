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
import type { EventsCheck } from "./events-check.ts";
import type { Problems } from "./problems.ts";

/** The largest difference between the clocks of replicas. */
const CLOCKS_MS = 60 * 60 * 1000;
/**
 * Months overlap in a chain by two days, because the time of an intent may differ from the clock by a day.
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
 * Accepts missing entries when a declaration in the chain drops their month. A file of an older version
 * leaves them undecided.
 */
export function checkDropped(end: ProofEnd, checks: Checks): Dropped {
  const declared = checkDeclarations(end, checks);
  const claimed = checkClaim(end, checks);
  const ranges = [...declared.ranges, ...claimed.ranges];
  const before_ms = Math.max(declared.before_ms, claimed.before_ms);
  return {
    entries: ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0),
    before: ranges.length === 0 ? null : new Date(before_ms).toISOString(),
    ranges,
  };
}

interface Absent {
  ranges: ChainRange[];
  before_ms: number;
}

const NOTHING: Absent = { ranges: [], before_ms: Number.NEGATIVE_INFINITY };

function checkDeclarations(end: ProofEnd, checks: Checks): Absent {
  const { problems, chain, events } = checks;
  const declarations = end.retention ?? [];
  for (const { position, salt, chain: value, ...retention } of declarations) {
    const hash = entryHash(retentionEntry(end.head.owner, retention, salt));
    const name = `the retention of ${retention.month}`;
    chain.add({ position, event_id: null, name, hash, chain: hashFromHex(value) });
  }
  const sound = declarations.filter((declaration) => isSound(declaration, end, problems));
  const absent = sound.map(({ month, ranges }) => ({ month, ranges: chain.bridge(ranges) }));
  const dropped = absent.filter(({ ranges }) => ranges.length > 0);
  if (dropped.length === 0) return NOTHING;
  const before_ms = Math.max(...dropped.map(({ month }) => monthEnd(month)));
  refuseOlderEvents(before_ms, checks);
  for (const { month, ranges } of dropped) {
    const least = events.leastPlaceFrom(monthEnd(month) + MONTH_EDGE_MS);
    for (const { from, to } of ranges.filter((range) => range.to > least)) {
      problems.leaveOpen(
        `${placesOf(from, to)} dropped with ${month}, but newer events come before: whether these were outcomes that came late to events of that month cannot be told.`,
      );
    }
  }
  return { ranges: dropped.flatMap(({ ranges }) => ranges), before_ms };
}

/** Tells whether retention can have made a declaration: its month is over, and its entries come before it. */
function isSound(
  { month, declared_at, ranges, position }: Declaration,
  { checkpoint }: ProofEnd,
  problems: Problems,
): boolean {
  const refused = (why: string) => {
    problems.add("removed", `The retention of ${month} at place ${position} ${why}.`, { position });
    return false;
  };
  const declared_ms = proofTime(declared_at);
  const sealed_ms = checkpoint === null ? null : proofTime(checkpoint.sealed_at);
  if (declared_ms === null) return refused("has no time of its declaration");
  if (sealed_ms === null || declared_ms > sealed_ms + CLOCKS_MS || monthEnd(month) > sealed_ms) {
    return refused("is of a time after the checkpoint that signs it");
  }
  if (monthEnd(month) > declared_ms) return refused("was declared before that month was over");
  let last = 0;
  for (const { from, to } of ranges) {
    if (from <= last || to < from) return refused("names places that are out of order");
    last = to;
  }
  return last < position || refused("names places that come after it");
}

/** Checks the dropped months that a file of an older version claims without a signature. */
function checkClaim({ dropped, checkpoint }: ProofEnd, checks: Checks): Absent {
  if (dropped === null || dropped.ranges.length === 0) return NOTHING;
  const { problems, chain, events } = checks;
  const { occurred_before } = dropped;
  const before_ms = proofTime(occurred_before);
  const sealed_ms = checkpoint === null ? null : proofTime(checkpoint.sealed_at);
  if (before_ms === null || before_ms !== monthStart(occurred_before.slice(0, "2026-01".length))) {
    problems.add(
      "removed",
      `Events before "${occurred_before}" are said to be dropped, which is not the start of a month in UTC.`,
    );
    return NOTHING;
  }
  if (sealed_ms === null || before_ms > sealed_ms) {
    const message = `Events before ${occurred_before} are said to be dropped, which is after the checkpoint of this file.`;
    problems.add("removed", message);
    return NOTHING;
  }
  refuseOlderEvents(before_ms, checks);
  const least = events.leastPlaceFrom(before_ms + MONTH_EDGE_MS);
  for (const { from, to } of dropped.ranges.filter((range) => range.to > least)) {
    const message = `${placesOf(from, to)} said to be of months that were dropped, but newer events come before them.`;
    problems.add("removed", message, { position: from });
  }
  const ranges = chain.bridge(dropped.ranges.filter(({ from, to }) => from <= to));
  for (const { from, to } of ranges) {
    problems.leaveOpen(
      `${placesOf(from, to)} said to be of months before ${occurred_before} that were dropped, and no declaration in the chain says so: whether they were dropped or removed cannot be told.`,
    );
  }
  return { ranges, before_ms };
}

function refuseOlderEvents(before_ms: number, { problems, events }: Checks): void {
  const from_ms = events.from === null ? null : proofTime(events.from);
  if (from_ms === null || from_ms >= before_ms) return;
  const before = new Date(before_ms).toISOString();
  problems.add("removed", `Events before ${before} are said to be dropped, and some are here.`);
}

function placesOf(from: number, to: number): string {
  return from === to ? `The entry at place ${from} is` : `The entries at places ${from} to ${to} are`;
}
