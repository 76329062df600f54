import { PROOF_FORMAT, type ProofEnd, proofEndSchema } from "../contracts/audit/index.ts";
import { fits } from "../domain/errors/index.ts";
import { isRecord, NotIJson, parseIJson } from "../domain/json/index.ts";
import { hashFromHex } from "../domain/proof/index.ts";
import { type EarlierTree, type NoteKey, treesBefore } from "../domain/tlog/index.ts";
import { ChainCheck } from "./chain-check.ts";
import { EventsCheck } from "./events-check.ts";
import type { KeptRoot } from "./export-lines.ts";
import { type Finding, Findings, isAltered } from "./findings.ts";
import { RemainderCheck, type RemainderFound } from "./remainder-check.ts";
import { RootsCheck, type RootsFound } from "./roots-check.ts";
import { checkWitnesses, type WitnessFound, type WitnessRule } from "./witnesses.ts";

/** The result of checking an export with proof. */
export interface Verdict {
  /**
   * `altered`: the export breaks a rule of its format. `undecided`: it breaks none, but the files leave a question
   * open.
   */
  result: "complete" | "altered" | "undecided";
  /** The owner that the export names, or null for a file without its last line. */
  owner: string | null;
  owner_given: boolean;
  events: number;
  entries: number;
  pending: number;
  occurred_from: string | null;
  occurred_to: string | null;
  /** The signed root of the export, or null if no key signed it. */
  root: { origin: string; size: number; hash: string; sealed_at: string } | null;
  keys: readonly string[];
  /** Whether the reader named the keys. If not, they are those of the file itself. */
  key_given: boolean;
  /** The kept roots that the log continues. */
  kept: readonly { name: string; size: number }[];
  /** The number of days whose last head is on the chain. */
  heads: number;
  /** The witnesses whose keys the reader named, or null. */
  witnesses: { quorum: number; cosignatures: readonly WitnessFound[] } | null;
  /** The entries of dropped months, and the newest of these months; null if there are none. */
  dropped: { entries: number; month: string } | null;
  /** The restarts of the owner's chain. */
  restarts: readonly { declared_at: string; from: number; position: number }[];
  /** The earlier trees of the log, under other names. */
  earlier_trees: readonly EarlierTree[];
  findings: readonly Finding[];
  findings_total: number;
}

const FINDINGS_SHOWN = 100;

export interface VerifyGiven {
  /** The owner whose log it must be, such as `organization:acme`; null accepts any owner. */
  owner: string | null;
  /** The verifier keys that the reader trusts. One must have signed. Null trusts the keys in the file. */
  keys: readonly NoteKey[] | null;
  roots: readonly KeptRoot[];
  /** The name that the log must have; any name without it. */
  origin?: string | null;
  /** The witnesses that must have cosigned the log; null requires no witnesses. */
  witnesses: WitnessRule | null;
}

/** Checks an export with proof (AU-65) without I/O. The lines may come from any source. */
export async function verifyExport(
  lines: AsyncIterable<string>,
  given: VerifyGiven,
  onEvent: (events: number) => void = () => {},
): Promise<Verdict> {
  const findings = new Findings();
  const chain = new ChainCheck(findings);
  const events = new EventsCheck(findings, chain);
  let end: Record<string, unknown> | null = null;
  let line = 0;
  for await (const text of lines) {
    line += 1;
    const value = parseLine(text, line, findings);
    if (value === undefined) continue;
    if (end !== null) findings.add("line_unreadable", { line }, "no line after the last one");
    else if (isRecord(value) && "format" in value) end = value;
    else events.add(value, line);
    onEvent(events.events);
  }
  const checks = { findings, chain, events };
  const { format = PROOF_FORMAT } = end ?? {};
  if (format !== PROOF_FORMAT) return unknownFormat(format, given, checks);
  if (fits(proofEndSchema, end)) return verdictOf(end, await checkEnd(end, given, checks), given, checks);
  if (end === null) findings.add("cut_off", { line: line + 1 });
  else findings.add("line_unreadable", { line }, "the last line of an export with proof");
  return verdictOf(null, null, given, checks);
}

interface Checks {
  findings: Findings;
  chain: ChainCheck;
  events: EventsCheck;
}

/** Parses a line. Returns undefined for a line that is not I-JSON (AU-77). */
function parseLine(text: string, line: number, findings: Findings): unknown {
  try {
    return parseIJson(text);
  } catch (error) {
    findings.add("line_unreadable", { line }, "I-JSON", error instanceof NotIJson ? error.message : null);
    return undefined;
  }
}

/** Returns the verdict on a format that this version does not know: whatever else was found does not count. */
function unknownFormat(format: unknown, given: VerifyGiven, checks: Checks): Verdict {
  const findings = new Findings();
  findings.add("format_unknown", {}, PROOF_FORMAT, JSON.stringify(format));
  return verdictOf(null, null, given, { ...checks, findings });
}

interface EndFound extends RootsFound, RemainderFound {
  witnesses: readonly WitnessFound[];
}

async function checkEnd(end: ProofEnd, given: VerifyGiven, checks: Checks): Promise<EndFound> {
  const { findings, chain, events } = checks;
  const { owner, position } = end.head;
  if (given.owner !== null && given.owner !== owner) findings.add("other_owner", {}, given.owner, owner);
  events.end(owner);
  const remainder = new RemainderCheck(end, findings, chain, events);
  const found = remainder.check();
  chain.end(position, hashFromHex(end.head.chain));
  const roots = await new RootsCheck(end, findings, chain, given.keys).check(given.roots);
  remainder.giveUp();
  const origin = roots.root?.head.origin ?? null;
  if (given.origin != null && origin !== null && origin !== given.origin) {
    findings.add("root_of_other_log", { root: "note" }, given.origin, origin);
  }
  const witnesses = given.witnesses === null ? [] : await checkWitnesses(given.witnesses, roots, findings);
  return { ...found, ...roots, witnesses };
}

function verdictOf(
  end: ProofEnd | null,
  found: EndFound | null,
  given: VerifyGiven,
  { findings, chain, events }: Checks,
): Verdict {
  const all = findings.sorted();
  const head = found?.root?.head ?? null;
  return {
    result: all.some(isAltered) ? "altered" : all.length > 0 ? "undecided" : "complete",
    owner: end?.head.owner ?? null,
    owner_given: given.owner !== null,
    events: events.events,
    entries: chain.entries,
    pending: events.pending,
    occurred_from: events.from,
    occurred_to: events.to,
    root: head && {
      origin: head.origin,
      size: head.size,
      hash: head.root.toBase64(),
      sealed_at: end?.leaf?.sealed_at ?? "",
    },
    keys: found?.root?.signers ?? [],
    key_given: given.keys !== null,
    kept: (found?.kept ?? []).map(({ name, head: { size } }) => ({ name, size })),
    heads: found?.heads ?? 0,
    witnesses: given.witnesses && { quorum: given.witnesses.quorum, cosignatures: found?.witnesses ?? [] },
    dropped: found?.month == null ? null : { entries: found.dropped, month: found.month },
    restarts: (found?.restarts ?? []).map(({ declared_at, from, position }) => ({
      declared_at,
      from,
      position,
    })),
    earlier_trees: head === null ? [] : treesBefore(head),
    findings: all.slice(0, FINDINGS_SHOWN),
    findings_total: findings.total,
  };
}
