import type { Logger } from "@ostiary/lib/runtime/telemetry";
import type { Directory } from "../directory.ts";
import { deleteExpiredSessions } from "./queries.ts";

const INTERVAL_MS = 10 * 60 * 1000;
const BATCH_ROWS = 1_000;

/** A loop that goes on until it is stopped. */
export interface Loop {
  /** Resolves when a round that is under way has ended. */
  stop(): Promise<void>;
}

/** Deletes expired sessions, now and every ten minutes, in batches that lock little. */
export function startSessionSweeper(
  directory: Pick<Directory, "database" | "now">,
  log: Logger,
  interval_ms = INTERVAL_MS,
): Loop {
  const stopped = Promise.withResolvers<void>();
  let running = true;
  const loop = (async () => {
    while (running) {
      await sweep(directory, () => running).catch((err) => log.warn({ err }, "expired sessions not deleted"));
      await pause(interval_ms, stopped.promise);
    }
  })();
  return {
    stop() {
      running = false;
      stopped.resolve();
      return loop;
    },
  };
}

async function sweep(
  { database, now }: Pick<Directory, "database" | "now">,
  goOn: () => boolean,
): Promise<void> {
  let deleted = BATCH_ROWS;
  while (deleted === BATCH_ROWS && goOn()) {
    deleted = await database.run("delete_expired_sessions", (orm) =>
      deleteExpiredSessions(orm, now(), BATCH_ROWS),
    );
  }
}

async function pause(duration_ms: number, ended: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, duration_ms);
  await Promise.race([promise, ended]);
  clearTimeout(timer);
}
