import { type ProofEnd, proofEndSchema } from "@ostiary/lib/contracts/audit";
import { fits } from "@ostiary/lib/domain/errors";
import { isRecord, parseJson } from "@ostiary/lib/domain/json";
import { hashFromHex, keyIdOf, type SigningJwk } from "@ostiary/lib/domain/proof";
import { ChainCheck } from "./chain-check.ts";
import { CheckpointsCheck, type KeptCopies } from "./checkpoints-check.ts";
import { EventsCheck } from "./events-check.ts";
import { type Fault, Faults } from "./faults.ts";

export type { KeptCopies };

/** What an export with proof was found to be. */
export interface Verdict {
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
    /** Null when nobody signed it. */
    kid: string | null;
    /** Whether the reader named the key. */
    key_given: boolean;
  } | null;
  dropped_entries: number;
  dropped_before: string | null;
  faults: readonly Fault[];
  faults_total: number;
}

const FAULTS_SHOWN = 100;

/** Checks an export with proof (contract 6, Proof), whose lines may come from anywhere, and nothing else. */
export async function verifyExport(
  lines: AsyncIterable<string>,
  keys: readonly SigningJwk[] | null,
  kept: KeptCopies,
  onEvent: (events: number) => void = () => {},
): Promise<Verdict> {
  const faults = new Faults();
  const chain = new ChainCheck(faults);
  const events = new EventsCheck(faults, chain);
  if (kept.end !== null && kept.end.head.position > 0) {
    chain.expect(kept.end.head.position, hashFromHex(kept.end.head.chain), "The export that was kept");
  }
  let end: ProofEnd | null = null;
  let line = 0;
  for await (const text of lines) {
    line += 1;
    const value = parsed(text);
    if (end !== null) faults.add("unreadable", `Line ${line} comes after the one that ends the proof.`);
    else if (isRecord(value) && "head" in value) end = endOf(value, line, faults);
    else events.add(value, line);
    onEvent(events.events);
  }
  if (end === null)
    faults.add("unreadable", "The last line, which ends the proof, is missing: the file was cut off.");
  else await checkEnd(end, { faults, chain, events, keys, kept });
  return verdictOf(end, { faults, chain, events, keys });
}

interface Checks {
  faults: Faults;
  chain: ChainCheck;
  events: EventsCheck;
  keys: readonly SigningJwk[] | null;
}

async function checkEnd(
  end: ProofEnd,
  { faults, chain, events, keys, kept }: Checks & { kept: KeptCopies },
): Promise<void> {
  events.end(end);
  for (const { from, to, chain: value } of end.dropped?.ranges ?? [])
    chain.bridge(from, to, hashFromHex(value));
  chain.end(end.head.position, hashFromHex(end.head.chain));
  if (kept.end !== null && kept.end.head.owner !== end.head.owner) {
    faults.add(
      "checkpoint",
      `The export that was kept is of ${kept.end.head.owner}, this one of ${end.head.owner}.`,
    );
  }
  await new CheckpointsCheck(faults, keys).check(end, kept);
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

function endOf(value: unknown, line: number, faults: Faults): ProofEnd | null {
  if (fits(proofEndSchema, value)) return value;
  faults.add("unreadable", `Line ${line} should end the proof, and can not be read.`);
  return null;
}

function verdictOf(end: ProofEnd | null, { faults, chain, events, keys }: Checks): Verdict {
  const checkpoint = end?.checkpoint ?? null;
  const dropped = end?.dropped ?? null;
  return {
    complete: faults.count === 0,
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
            key_given: keys !== null,
          },
    dropped_entries: dropped?.ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0) ?? 0,
    dropped_before: dropped?.occurred_before ?? null,
    faults: faults.first(FAULTS_SHOWN),
    faults_total: faults.count,
  };
}
