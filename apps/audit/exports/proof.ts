import { type Clock, pause } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { EventLog } from "../events/event.ts";
import {
  isUnsealed,
  type ProofEndParts,
  type SealedLog,
  selectProofEnd,
  selectSealedLog,
  streamProvenEvents,
} from "./proof-sql.ts";

const BATCH_ROWS = 200;
/** The pause between two reads of the sealer's state, while an export waits for the sealer. */
const SEALED_POLL_MS = 50;
/** The pause between two reads of the newest cosigned root, while an export waits for witnesses. */
const COSIGNED_POLL_MS = 200;

/** The roots that the witnesses of the log cosigned. */
export interface CosignedRoots {
  /** Returns the newest root that a quorum cosigned, or null. */
  select(): Promise<ProofEndParts["cosigned"]>;
  /** The longest wait of an export for a root that covers its checkpoint. */
  waitMsMax: number;
}

interface ProofOptions {
  /** The longest wait for the sealer. */
  waitMsMax: number;
  /** The number of a checkpoint whose head the export includes too, or null. */
  asked: number | null;
  /** Null for a log without witnesses. */
  cosigned: CosignedRoots | null;
  /** Aborted when the client disconnects: the export then stops waiting for witnesses. */
  signal: AbortSignal;
}

/**
 * Yields the body of an export with proof: the log as of its newest checkpoint, newest event first, then the line
 * with the proof. At the start, waits until events that were committed before the request are sealed. At the end,
 * waits for witnesses to cosign the checkpoint (AU-196). Both waits are limited.
 */
export async function* proofChunks(
  database: Database,
  log: EventLog,
  clock: Clock,
  { waitMsMax, asked, cosigned, signal }: ProofOptions,
): AsyncGenerator<string, void, void> {
  const sealed = await sealedLog(database, log, clock, waitMsMax);
  for await (const lines of streamProvenEvents(database, log, sealed, BATCH_ROWS)) {
    yield lines.map(({ event, proof }) => `${JSON.stringify({ ...event, proof })}\n`).join("");
  }
  const root = cosigned === null ? null : await cosignedRoot(cosigned, sealed, { clock, signal });
  yield `${JSON.stringify(await selectProofEnd(database, sealed, { asked, cosigned: root }))}\n`;
}

async function sealedLog(
  database: Database,
  log: EventLog,
  clock: Clock,
  waitMsMax: number,
): Promise<SealedLog> {
  const untilMs = clock.elapsedMs() + waitMsMax;
  const first = await selectSealedLog(database, log);
  let sealed = first;
  while (clock.elapsedMs() < untilMs && (await isUnsealed(database, log, sealed, first.now))) {
    await pause(clock, SEALED_POLL_MS);
    sealed = await selectSealedLog(database, log);
  }
  return sealed;
}

/**
 * Waits for a cosigned root that covers the checkpoint of the export. Returns the newest cosigned root even if the
 * wait times out.
 */
async function cosignedRoot(
  { select, waitMsMax }: CosignedRoots,
  { checkpoint }: SealedLog,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<ProofEndParts["cosigned"]> {
  const untilMs = clock.elapsedMs() + waitMsMax;
  const number = Number(checkpoint?.number ?? 0);
  let root = await select();
  while ((root?.size ?? 0) < number && clock.elapsedMs() < untilMs && !signal.aborted) {
    await pause(clock, COSIGNED_POLL_MS);
    root = await select();
  }
  return root;
}
