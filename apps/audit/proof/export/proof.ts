import { type Clock, pause } from "@ostiary/lib/async";
import { ApiError, validationError } from "@ostiary/lib/domain/errors";
import type { NoteKey } from "@ostiary/lib/domain/tlog";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { EventLog } from "../../events/event.ts";
import { signersOf } from "../root/signing-keys.ts";
import { selectNote, sizeOf } from "../root/tree-sql.ts";
import { insertAltered } from "../seal/state-sql.ts";
import { type ProofEndParts, selectProofEnd } from "./proof-end-sql.ts";
import { isUnsealed, NotSealed, type SealedLog, selectSealedLog, streamProvenEvents } from "./proof-sql.ts";

const BATCH_ROWS = 200;
/** The pause between two reads of the sealer's state, while an export waits for the sealer. */
const SEALED_POLL_MS = 50;
/** The pause between two reads of the newest cosigned root, while an export waits for witnesses. */
const COSIGNED_POLL_MS = 200;
const RETRY_AFTER_SECONDS = 5;
/** A transaction whose statements all read the same state. */
const SNAPSHOT = { isolation: "repeatable read", readOnly: true } as const;

/** The roots that the witnesses of the log cosigned. */
export interface CosignedRoots {
  /** Returns the newest root that a quorum cosigned, or null. */
  select(): Promise<ProofEndParts["cosigned"]>;
  /** The longest wait of an export for a root that has its newest leaf. */
  waitMsMax: number;
}

export interface ProofDeps {
  reads: Database;
  writes: Database;
  clock: Clock;
  /** The keys of the log; empty without a key. */
  keys: readonly NoteKey[];
  waitMsMax: number;
  /** Null for a log without witnesses. */
  cosigned: CosignedRoots | null;
}

/**
 * Refuses the size of a tree that was never signed.
 *
 * @throws ApiError 422
 */
export async function checkAskedRoot({ reads }: ProofDeps, size: number): Promise<void> {
  const newest = sizeOf(await selectNote(reads));
  if (size <= newest) return;
  throw validationError([
    { path: "root", message: `The log has no root of ${size} leaves; its newest root has ${newest}.` },
  ]);
}

/**
 * Yields the body of an export with proof: the log as of its newest signed root, newest event first, then the line
 * with the proof. At the start, waits until events that were committed before the request are sealed. At the end,
 * waits for witnesses to cosign the root (AU-196). Both waits are limited.
 *
 * @param asked the size of an earlier tree whose head the export includes too, or null
 * @param signal aborted when the client disconnects: the export then stops waiting for witnesses
 * @throws ApiError 503 if an event that was committed before the request has no position
 */
export async function* proofChunks(
  deps: ProofDeps,
  log: EventLog,
  asked: number | null,
  signal: AbortSignal,
): AsyncGenerator<string, void, void> {
  const { reads, keys, cosigned } = deps;
  const { sealed, now } = await sealedLog(deps, log);
  const read = { asked: now, batchRows: BATCH_ROWS };
  let from: string | null = null;
  try {
    for await (const lines of streamProvenEvents(reads, log, sealed, read)) {
      for (const { event } of lines) if (from === null || event.occurred_at < from) from = event.occurred_at;
      yield lines.map(({ event, proof }) => `${JSON.stringify({ ...event, proof })}\n`).join("");
    }
  } catch (error) {
    throw error instanceof NotSealed ? await unsealed(deps, sealed, error) : error;
  }
  const root = cosigned === null ? null : await cosignedRoot(cosigned, sealed, deps.clock, signal);
  const end = await reads.transaction(
    "select_proof_end",
    (tx) => selectProofEnd(tx, sealed, { asked, cosigned: root, keys, from }),
    SNAPSHOT,
  );
  yield `${JSON.stringify(end)}\n`;
}

/** Waits until everything that is committed now is sealed. Returns the sealed log, and the snapshot of now. */
async function sealedLog(
  { reads, clock, waitMsMax, keys }: ProofDeps,
  log: EventLog,
): Promise<{ sealed: SealedLog; now: string }> {
  const untilMs = clock.elapsedMs() + waitMsMax;
  const read = () => reads.transaction("select_sealed_log", (tx) => selectSealedLog(tx, log), SNAPSHOT);
  let sealed = await read();
  const { now } = sealed;
  // the first pass is committed before its root is signed; no reader accepts a root that only unknown keys signed
  const isUnsigned = async () =>
    keys.length > 0 && sealed.leaf !== null && (await signersOf(sealed.note, keys)).length === 0;
  for (;;) {
    const isRootMissing = await isUnsigned();
    if (!isRootMissing && !(await isUnsealed(reads, log, sealed, now))) break;
    if (clock.elapsedMs() >= untilMs) {
      const what = isRootMissing
        ? "no key of this service signed the stored root"
        : "events that are committed have no position yet";
      throw notSealed(sealed, what);
    }
    await pause(clock, SEALED_POLL_MS);
    sealed = await read();
  }
  return { sealed, now };
}

/** Lets the sealer look for an event that it has missed, and returns the error for the caller. */
async function unsealed({ writes }: ProofDeps, sealed: SealedLog, error: NotSealed): Promise<ApiError> {
  if (error.isSealable) await insertAltered(writes, sealed.owner, error.message);
  return notSealed(sealed, error.message);
}

function notSealed({ owner, left_out }: SealedLog, what: string): ApiError {
  const reason = left_out === null ? what : `${what}; the sealer leaves the log out: ${left_out}`;
  return new ApiError("SERVICE_UNAVAILABLE", {
    message:
      "The log has events that are not sealed yet, so the export would not be complete. Try again in a moment.",
    cause: new Error(`${owner}: ${reason}`),
    headers: { "Retry-After": String(RETRY_AFTER_SECONDS) },
  });
}

/**
 * Waits for a cosigned root that has the export's leaf. Returns the newest cosigned root even if the wait times out.
 */
async function cosignedRoot(
  cosigned: CosignedRoots,
  { note }: SealedLog,
  clock: Clock,
  signal: AbortSignal,
): Promise<ProofEndParts["cosigned"]> {
  const untilMs = clock.elapsedMs() + cosigned.waitMsMax;
  const size = sizeOf(note);
  let root = await cosigned.select();
  while ((root?.size ?? 0) < size && clock.elapsedMs() < untilMs && !signal.aborted) {
    await pause(clock, COSIGNED_POLL_MS);
    root = await cosigned.select();
  }
  return root;
}
