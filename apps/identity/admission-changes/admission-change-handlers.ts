import type { Clock } from "@ostiary/lib/async";
import { ADMISSION_CHANGES_MAX, AdmissionChanges } from "@ostiary/lib/contracts/admission";
import { ADMISSION_CHANGES_PATH } from "@ostiary/lib/contracts/internal-api";
import { validationError } from "@ostiary/lib/domain/errors";
import { errors, type HealthState, response, waitParameter } from "@ostiary/lib/runtime/http";
import type { Database, Orm } from "@ostiary/lib/runtime/stores/database";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { changeOf, readChanges } from "./admission-change-sql.ts";
import { CURSOR_LENGTH_MAX, type Cursor, readCursor, writeCursor } from "./cursor.ts";

/**
 * The age at which a cursor is no longer accepted, and how far it may be ahead of a clock that was set back. The
 * sweeper keeps changes for twice this time.
 */
export const CURSOR_MS_MAX = 3_600_000;
/** The pause between two polls of a waiting request. */
const POLL_MS = 500;
/** The number of running transactions above which a cursor between two pages would be too long for a URL. */
const RUNNING_MAX = 200;

const query = Type.Object(
  {
    after: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: CURSOR_LENGTH_MAX,
        description:
          "The cursor `next` of the last response. Without it, there are no changes, only a cursor.",
      }),
    ),
    wait_ms: waitParameter("The maximum time in milliseconds to wait for the first change.", { default: 0 }),
    limit: Type.Optional(
      Type.String({
        pattern: "^([1-9][0-9]{0,2}|1000)$",
        description: "The maximum number of changes.",
        rule: `must be a whole number from 1 to ${ADMISSION_CHANGES_MAX}`,
        openapi: {
          type: "integer",
          minimum: 1,
          maximum: ADMISSION_CHANGES_MAX,
          default: ADMISSION_CHANGES_MAX,
        },
      }),
    ),
  },
  { additionalProperties: false },
);

interface ChangesDeps {
  /** The connections for validations, so that no other work delays a revocation. */
  readonly validations: Database;
  readonly clock: Clock;
}

/** Returns the route `GET /internal/admission-changes` (ID-116). */
export function admissionChangesHandlers({ validations, clock }: ChangesDeps, health: HealthState) {
  const poll = (cursor: Cursor | null, limit: number) =>
    validations.run("list_admission_changes", (orm) => changesAfter(orm, cursor, limit));
  return new Elysia({ name: "admission-changes", normalize: false }).get(
    ADMISSION_CHANGES_PATH,
    async ({
      query: { after, wait_ms = "0", limit = String(ADMISSION_CHANGES_MAX) },
      request: { signal },
    }) => {
      const cursor = after === undefined ? null : checkedCursor(after);
      const endMs = clock.elapsedMs() + Number(wait_ms);
      for (;;) {
        const found = await poll(cursor, Number(limit));
        if (cursor === null || "reset" in found || found.changes.length > 0) return found;
        const leftMs = endMs - clock.elapsedMs();
        if (leftMs > 0) await pauseUnlessLeft(clock, Math.min(POLL_MS, leftMs), signal);
        if (leftMs <= 0 || health.draining || signal.aborted) return found;
      }
    },
    {
      query,
      response: {
        200: response(AdmissionChanges, "The changes since the cursor, or `reset`."),
        ...errors("UNAUTHORIZED"),
      },
      detail: {
        operationId: "listAdmissionChanges",
        summary: "Read changes of admissions",
        description:
          "The persons, members and organizations whose credentials, status, role or plan changed since a cursor. A gateway drops what it has cached for them. A reader that always passes the last `next` misses no change.",
        tags: ["Internal"],
      },
    },
  );
}

/** Pauses for `ms`, or until the client leaves. */
function pauseUnlessLeft(clock: Clock, ms: number, left: AbortSignal): Promise<void> {
  if (left.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  const cancel = clock.after(ms, end);
  left.addEventListener("abort", end, { once: true });
  return promise.finally(() => {
    cancel();
    left.removeEventListener("abort", end);
  });
}

async function changesAfter(orm: Orm, cursor: Cursor | null, limit: number): Promise<AdmissionChanges> {
  const { state, changes } = await readChanges(orm, cursor, limit + 1);
  const { server, at, seen } = state;
  const latest = writeCursor({ server, at, seen });
  if (cursor === null) return { changes: [], next: latest };
  if (isForeign(cursor, state)) return { reset: true, next: latest };
  const until = cursor.page?.seen ?? seen;
  // A cursor is as old as what it has seen, so that reading pages does not keep an old one acceptable.
  const since = cursor.page === undefined ? at : cursor.at;
  const shown = changes.slice(0, limit);
  const last = shown.at(-1);
  if (changes.length <= limit || last === undefined) {
    return { changes: shown.map(changeOf), next: writeCursor({ server, at: since, seen: until }) };
  }
  if (until.split(",").length > RUNNING_MAX) return { reset: true, next: latest };
  const page = { seen: until, xid: last.xid, n: last.n };
  return {
    changes: shown.map(changeOf),
    next: writeCursor({ server, at: cursor.at, seen: cursor.seen, page }),
  };
}

/** Returns whether the database may lack changes since the cursor. */
function isForeign(
  cursor: Cursor,
  { server, at, xmax }: { server: string; at: number; xmax: string },
): boolean {
  const [, cursorXmax = ""] = (cursor.page?.seen ?? cursor.seen).split(":");
  return (
    cursor.server !== server || Math.abs(at - cursor.at) > CURSOR_MS_MAX || BigInt(cursorXmax) > BigInt(xmax)
  );
}

function checkedCursor(after: string): Cursor {
  const cursor = readCursor(after);
  if (cursor !== null) return cursor;
  throw validationError([
    { path: "after", message: "after must be the value of `next` from an earlier response." },
  ]);
}
