import type { Clock } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { EventLog } from "../events/event.ts";
import {
  isUnsealed,
  type SealedLog,
  selectProofEnd,
  selectSealedLog,
  streamProvenEvents,
} from "./proof-queries.ts";

const BATCH_ROWS = 200;
/** Pause between two checks of the sealer's progress. */
const LOOK_MS = 50;

/**
 * Yields the body of an export with proof: the log as its newest checkpoint holds it, newest event first,
 * then the line with the proof. `asked` is the number of a checkpoint whose head the line also has. Waits for events that were committed before the request, as long as a sealer
 * may take.
 */
export async function* proofChunks(
  database: Database,
  log: EventLog,
  clock: Clock,
  { wait_ms_max, asked }: { wait_ms_max: number; asked: number | null },
): AsyncGenerator<string, void, void> {
  const sealed = await sealedLog(database, log, clock, wait_ms_max);
  for await (const lines of streamProvenEvents(database, log, sealed, BATCH_ROWS)) {
    yield lines.map(({ event, proof }) => `${JSON.stringify({ ...event, proof })}\n`).join("");
  }
  yield `${JSON.stringify(await selectProofEnd(database, sealed, asked))}\n`;
}

async function sealedLog(
  database: Database,
  log: EventLog,
  clock: Clock,
  wait_ms_max: number,
): Promise<SealedLog> {
  const until_ms = clock.elapsed_ms() + wait_ms_max;
  const first = await selectSealedLog(database, log);
  let sealed = first;
  while (clock.elapsed_ms() < until_ms && (await isUnsealed(database, log, sealed, first.now))) {
    await new Promise<void>((resolve) => clock.after(LOOK_MS, resolve));
    sealed = await selectSealedLog(database, log);
  }
  return sealed;
}
