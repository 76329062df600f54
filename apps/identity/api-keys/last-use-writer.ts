import { endsWithin, Loop } from "@ostiary/lib/async";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import type { Dependencies } from "../dependencies.ts";
import { writeLastUses } from "./api-key-sql.ts";

/** Stores the uses that validations have noted. Uses of locked keys wait for the next call. */
export async function storeLastUses({ database, lastUses }: Dependencies): Promise<void> {
  for (const batch of lastUses.batches()) {
    const locked = new Set(await database.run("write_last_uses", (orm) => writeLastUses(orm, batch)));
    lastUses.settle(batch.filter(({ id }) => !locked.has(id)));
  }
}

/** A pause well below the 15 s by which `last_used_at` may lag. */
const PAUSE_MS = 5_000;
const RETRY_MS = 1_000;
const LAST_TRY_MS = 5_000;

/** Returns a writer that stores the uses of keys every few seconds, and once more when it stops. */
export function lastUseWriter(deps: Dependencies, log: Pick<Logger, "warn">) {
  const loop = new Loop({
    task: () => storeLastUses(deps),
    pauseMs: PAUSE_MS,
    retryMs: RETRY_MS,
    onFailure: (err) =>
      log.warn({ err }, "identity could not store the last uses of keys and will try again"),
    clock: deps.clock,
  });
  return {
    start: () => loop.start(PAUSE_MS),
    async stop(): Promise<void> {
      await loop.stop();
      await endsWithin(storeLastUses(deps), LAST_TRY_MS);
      const { waiting } = deps.lastUses;
      if (waiting > 0) log.warn({ keys: waiting }, "identity stops without storing the last uses of keys");
    },
  };
}
