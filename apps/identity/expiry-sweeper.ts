import { Loop } from "@ostiary/lib/async";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { CURSOR_MS_MAX } from "./admission-changes/admission-change-handlers.ts";
import { deleteOldChanges, recordEndedTransactions } from "./admission-changes/admission-change-sql.ts";
import type { Dependencies } from "./dependencies.ts";
import { expireOverdueInvites } from "./invites/invite-sql.ts";
import { deleteExpiredSessions } from "./sessions/session-sql.ts";

const INTERVAL_MS = 10 * 60 * 1000;
const RETRY_MS = 60 * 1000;
const ROWS = 1_000;

const SWEEPS = [
  ["delete_expired_sessions", deleteExpiredSessions],
  ["expire_overdue_invites", expireOverdueInvites],
  ["record_ended_transactions", recordEnded],
  ["delete_old_admission_changes", deleteChanges],
] as const;

/** How long changes are kept: twice as long as a cursor is accepted, because a clock can be set back. */
const CHANGES_KEPT_MS = 2 * CURSOR_MS_MAX;

async function recordEnded(orm: Orm): Promise<number> {
  await recordEndedTransactions(orm, CHANGES_KEPT_MS);
  return 0;
}

function deleteChanges(orm: Orm, _now: Date, limit: number): Promise<number> {
  return deleteOldChanges(orm, CHANGES_KEPT_MS, limit);
}

/**
 * At start and every ten minutes, deletes expired sessions and old changes of admissions, and marks overdue invites as
 * expired, which deletes their tokens and addresses. Works in small batches.
 */
export function expirySweeper({ database, clock }: Dependencies, log: Logger): Loop {
  return new Loop({
    async task(stopping) {
      for (const [operation, sweep] of SWEEPS) {
        let swept = ROWS;
        while (swept === ROWS && !stopping()) {
          swept = await database.run(operation, (orm) => sweep(orm, new Date(clock.now()), ROWS));
        }
      }
    },
    pauseMs: INTERVAL_MS,
    retryMs: RETRY_MS,
    onFailure: (err) =>
      log.warn({ err }, "identity could not sweep expired sessions and invites and will try again"),
    clock,
  });
}
