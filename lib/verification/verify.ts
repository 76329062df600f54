import type { ProofEnd } from "../contracts/audit/index.ts";
import { isRecord } from "../domain/json/index.ts";
import { hashFromHex, hexOf, keyIdOf, type SigningJwk } from "../domain/proof/index.ts";
import { ChainCheck } from "./chain-check.ts";
import { CheckpointsCheck } from "./checkpoints-check.ts";
import { checkDropped, type Dropped } from "./dropped-check.ts";
import { EventsCheck } from "./event-lines-check.ts";
import type { NotShown, Question } from "./finding-codes.ts";
import { checkHeads, daysWithoutHead, type UsedHead } from "./heads-check.ts";
import type { KeptCopies } from "./kept-copies.ts";
import { endOf, parseLine } from "./line-check.ts";
import { type Problem, Problems } from "./problems.ts";
import { checkTree, type ShownTree } from "./tree-check.ts";
import { checkWitnesses, type Witnessed, type WitnessRule } from "./witnesses-check.ts";

/** The result of checking an export with proof. */
export interface Verdict {
  /**
   * `altered`: the export differs from what was sealed. `undecided`: nothing is wrong, but the files leave a question
   * open. `unwitnessed`: nothing is wrong, but too few of the required witnesses vouch for the export.
   */
  result: "complete" | "altered" | "undecided" | "unwitnessed";
  complete: boolean;
  owner: string | null;
  events: number;
  entries: number;
  pending: number;
  occurred_from: string | null;
  occurred_to: string | null;
  checkpoint: {
    number: number;
    sealed_at: string;
    /** The key that signed the checkpoint, or null for an unsigned one. */
    kid: string | null;
    /** Whether the check used keys that the user trusts. If false, it used the keys in the file. */
    key_given: boolean;
  } | null;
  /** The tree that contains the checkpoints; null if the file has no valid tree. */
  tree: ShownTree | null;
  /** The findings about the witnesses; null if the user named no witnesses. */
  witnesses: Witnessed | null;
  /** The earlier checkpoints whose head for the log is on the chain, in the order of their numbers. */
  heads: readonly UsedHead[];
  dropped_entries: number;
  dropped_before: string | null;
  faults: readonly Problem[];
  faults_total: number;
  /** The questions that the files leave open. */
  undecided: readonly Question[];
  /** The facts that an export cannot prove. */
  not_shown: readonly NotShown[];
}

const PROBLEMS_SHOWN = 100;

/** The input of a check besides the export: the trusted keys, the trusted witnesses and the kept copies. */
export interface VerifyGiven {
  /** The keys of the log that the user trusts. Null trusts the keys in the file. */
  keys: readonly SigningJwk[] | null;
  kept: KeptCopies;
  /** The witnesses that must have cosigned the log; null requires no witnesses. */
  witnesses: WitnessRule | null;
}

/** Checks an export with proof (AU-65) offline. The lines may come from any source. */
export async function verifyExport(
  lines: AsyncIterable<string>,
  given: VerifyGiven,
  onEvent: (events: number) => void = () => {},
): Promise<Verdict> {
  const problems = new Problems();
  const chain = new ChainCheck(problems);
  const events = new EventsCheck(problems, chain);
  let end: ProofEnd | null = null;
  let line = 0;
  for await (const text of lines) {
    line += 1;
    const value = parseLine(text, line, problems);
    if (value === undefined) continue;
    if (end !== null) problems.add({ code: "line_after_end", line });
    else if (isRecord(value) && "head" in value) end = endOf(value, line, problems);
    else events.add(value, line);
    onEvent(events.events);
  }
  const checks = { problems, chain, events, given };
  if (end !== null) return verdictOf(end, await checkEnd(end, checks), checks);
  problems.add({ code: "cut_off" });
  return verdictOf(null, NOTHING_FOUND, checks);
}

interface Checks {
  problems: Problems;
  chain: ChainCheck;
  events: EventsCheck;
  given: VerifyGiven;
}

async function checkEnd(end: ProofEnd, { problems, chain, events, given }: Checks): Promise<EndFindings> {
  const { keys, kept } = given;
  events.end(end);
  const dropped = checkDropped(end, { problems, chain, events });
  chain.end(end.head.position, hashFromHex(end.head.chain));
  if (kept.end !== null) compareExports(kept.end, end, { problems, chain, dropped });
  const heads = checkHeads(end, { problems, chain, dropped: dropped.ranges });
  const tree = await checkTree(end, kept, { problems, keys: keys ?? end.keys });
  const inTree = tree?.numbers ?? new Set<number>();
  await new CheckpointsCheck(problems, keys).check(end, kept, { heads, inTree });
  const checkpoint = end.checkpoint?.number ?? null;
  const witnesses =
    given.witnesses === null ? null : await checkWitnesses(given.witnesses, tree, { problems, checkpoint });
  return { dropped, heads, tree: tree?.shown ?? null, witnesses };
}

/** The findings from the last line of an export. */
interface EndFindings {
  dropped: Dropped;
  heads: readonly UsedHead[];
  tree: ShownTree | null;
  witnesses: Witnessed | null;
}

/** The findings of a file without its last line. */
const NOTHING_FOUND: EndFindings = {
  dropped: { entries: 0, before: null, ranges: [] },
  heads: [],
  tree: null,
  witnesses: null,
};

/** Compares an export with an earlier export of the same log. */
function compareExports(
  kept: ProofEnd,
  end: ProofEnd,
  { problems, chain, dropped }: Pick<Checks, "problems" | "chain"> & { dropped: Dropped },
): void {
  const { position } = kept.head;
  const value = chain.valueAt(position);
  if (kept.head.owner !== end.head.owner) {
    const [keptOwner, owner] = [kept.head.owner, end.head.owner];
    problems.leaveOpen({ code: "kept_export_of_other_log", keptOwner, owner });
  } else if (value !== null && hexOf(value) !== kept.head.chain) {
    problems.add({ code: "kept_export_rewritten", position }, { position });
  } else if (value === null && dropped.ranges.some(({ from, to }) => from <= position && position <= to)) {
    problems.leaveOpen({ code: "kept_export_dropped", position });
  } else if (value === null && position > end.head.position) {
    if (newestOf(end) >= newestOf(kept)) {
      problems.add({ code: "kept_export_not_reached", position }, { position });
    } else problems.leaveOpen({ code: "kept_export_newer", position });
  }
}

/** Returns the number of the newest checkpoint in the last line of an export. */
function newestOf({ checkpoint, recent_checkpoints }: ProofEnd): number {
  return Math.max(checkpoint?.number ?? 0, ...recent_checkpoints.map(({ number }) => number));
}

function verdictOf(
  end: ProofEnd | null,
  found: EndFindings,
  { problems, chain, events, given }: Checks,
): Verdict {
  const { dropped, heads, tree, witnesses } = found;
  const checkpoint = end?.checkpoint ?? null;
  const result = resultOf(problems, witnesses);
  return {
    result,
    complete: result === "complete",
    owner: end?.head.owner ?? null,
    events: events.events,
    entries: chain.entries,
    pending: events.pending,
    occurred_from: events.from,
    occurred_to: events.to,
    checkpoint:
      checkpoint === null
        ? null
        : {
            number: checkpoint.number,
            sealed_at: checkpoint.sealed_at,
            kid: keyIdOf(checkpoint),
            key_given: given.keys !== null,
          },
    tree,
    witnesses,
    heads,
    dropped_entries: dropped.entries,
    dropped_before: dropped.before,
    faults: problems.first(PROBLEMS_SHOWN),
    faults_total: problems.count,
    undecided: problems.undecided.slice(0, PROBLEMS_SHOWN),
    not_shown: end === null ? [] : factsNotShown(end, found, events.from),
  };
}

function resultOf(problems: Problems, witnesses: Witnessed | null): Verdict["result"] {
  if (problems.count > 0) return "altered";
  if (witnesses?.lack != null) return "unwitnessed";
  return problems.undecided.length > 0 ? "undecided" : "complete";
}

/** Returns the facts that even an unaltered export cannot prove. */
function factsNotShown(
  { checkpoint, head, tree }: ProofEnd,
  { dropped, heads, witnesses }: EndFindings,
  from: string | null,
): NotShown[] {
  if (checkpoint === null) return [];
  const old = checkpoint.map === undefined;
  const facts: NotShown[] = [{ code: "cut", checkpoint: checkpoint.number, old }];
  const hasWitnesses = witnesses !== null && witnesses.lack === null;
  if (!old && checkpoint.jws !== null && !hasWitnesses) facts.push({ code: "other_history" });
  if (checkpoint.jws !== null && tree === undefined)
    facts.push({ code: "tree", checkpoint: checkpoint.number });
  if (checkpoint.jws === null) facts.push({ code: "author", months: dropped.before !== null });
  const days = old || head.position === 0 ? null : daysWithoutHead(from, checkpoint, heads);
  if (days !== null) facts.push({ code: "days", ...days });
  if (dropped.entries > 0) facts.push({ code: "dropped", entries: dropped.entries });
  return facts;
}
