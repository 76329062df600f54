import type { Clock } from "@ostiary/lib/async";
import { ApiError, notFound, validationError } from "@ostiary/lib/domain/errors";
import { parseTime } from "@ostiary/lib/domain/schemas";
import type { Database, Orm } from "@ostiary/lib/runtime/stores/database";
import { ulid } from "ulid";
import { urlWithoutQuery } from "../receivers/targets.ts";
import { selectGivenUp } from "./delivery-sql.ts";
import type { ChainPosition } from "./entry.ts";
import { newSecret, type SecretBox } from "./secrets.ts";
import {
  type AuditStream,
  type AuditStreamWithSecret,
  type CreateStreamBody,
  STREAMS_MAX,
  type StreamFilter,
  streamsOff,
  tooManyStreams,
  type UpdateStreamBody,
} from "./stream.ts";
import {
  deleteStream,
  hasStreams,
  insertStream,
  lockCreation,
  lockStream,
  type StreamAddress,
  selectStart,
  selectStream,
  updateSecret,
  updateStream,
} from "./stream-sql.ts";

export interface StreamCommandDeps {
  writes: Database;
  /** Null if AUDIT_STREAM_KEY_FILE is not set. */
  secrets: SecretBox | null;
  clock: Clock;
}

/**
 * Reads a stream.
 *
 * @throws ApiError 404 if the organization has no such stream
 */
export function readStream({ writes }: StreamCommandDeps, address: StreamAddress): Promise<AuditStream> {
  return writes.run("select_stream", (orm) => selectStream(orm, address));
}

/** Creates a stream with a secret of its own (AU-92, AU-95). */
export async function createStream(
  deps: StreamCommandDeps,
  organization_id: string,
  body: CreateStreamBody,
): Promise<AuditStreamWithSecret> {
  const address = { organization_id, stream_id: ulid(deps.clock.now()) };
  const secret = newSecret();
  const sealed = secretsOf(deps).seal(secret, address.stream_id);
  const { url, format = "ostiary" } = body;
  const filter = filterOf(body.filter);
  const row = await deps.writes.transaction(
    "create_stream",
    async (tx) => {
      await refuseTooMany(tx, organization_id);
      const start = await startPosition(tx, organization_id, body);
      await insertStream(tx, address, { url, format, filter, secret: sealed, start });
      return selectStream(tx, address);
    },
    { lane: `streams of ${organization_id}` },
  );
  return { ...row, secret };
}

/**
 * Returns the box that encrypts secrets.
 *
 * @throws ApiError 409 if the service has no key for secrets
 */
export function secretsOf({ secrets }: Pick<StreamCommandDeps, "secrets">): SecretBox {
  if (secrets !== null) return secrets;
  throw new ApiError(streamsOff.code, streamsOff);
}

/** Returns the filter, or null for a filter without conditions. */
function filterOf(filter: StreamFilter | null | undefined): StreamFilter | null {
  if (!filter) return null;
  const { params, ...exact } = filter;
  const some = params === undefined || Object.keys(params).length === 0 ? exact : { ...exact, params };
  return Object.keys(some).length === 0 ? null : some;
}

/** Throws if the organization may not add a stream. No other transaction adds one until this transaction ends. */
async function refuseTooMany(tx: Orm, organization_id: string): Promise<void> {
  await lockCreation(tx, organization_id);
  if (await hasStreams(tx, organization_id, STREAMS_MAX))
    throw new ApiError(tooManyStreams.code, tooManyStreams);
}

/**
 * Returns the position after which a new stream begins: the end of the log, or before the requested entry. Begins with
 * the restart that gave up the entry before it.
 */
async function startPosition(
  tx: Orm,
  organization_id: string,
  { from_position, from_time }: CreateStreamBody,
): Promise<ChainPosition> {
  const position = from_position === undefined ? null : String(from_position);
  const time = from_time === undefined ? null : (parseTime(from_time)?.toString() ?? null);
  const { chain_id, end, chain, position: before } = await selectStart(tx, organization_id, position, time);
  if (from_position !== undefined && from_position > end + 1) {
    const message = `from_position must be at most ${end + 1}, the next position of the log.`;
    throw validationError([{ path: "from_position", message }]);
  }
  const start = chain === null ? await selectGivenUp(tx, chain_id, before) : { position: before, chain };
  if (start === null)
    throw new Error("An entry of the log is missing before the position where a stream begins.");
  return start;
}

type Details = Record<string, { from: unknown; to: unknown }>;

/**
 * Changes a stream. A stream that resumes, or that fails and gets another URL, continues at once. The change does not
 * affect a delivery request in flight.
 */
export async function changeStream(
  deps: StreamCommandDeps,
  address: StreamAddress,
  body: UpdateStreamBody,
): Promise<{ stream: AuditStream; details: Details }> {
  const changes = body.filter === undefined ? body : { ...body, filter: filterOf(body.filter) };
  return deps.writes.transaction("update_stream", async (tx) => {
    const before = await lockStream(tx, address);
    await updateStream(tx, address, changes);
    const after = await selectStream(tx, address);
    return { stream: after, details: detailsOf(before, after) };
  });
}

function detailsOf(before: AuditStream, after: AuditStream): Details {
  const names = ["url", "format", "filter", "status"] as const;
  const shown = (row: AuditStream, name: (typeof names)[number]) =>
    name === "url" ? urlWithoutQuery(row.url) : row[name];
  return Object.fromEntries(
    names
      .filter((name) => !Bun.deepEquals(before[name], after[name]))
      .map((name) => [name, { from: shown(before, name), to: shown(after, name) }]),
  );
}

export async function removeStream({ writes }: StreamCommandDeps, address: StreamAddress): Promise<void> {
  if (!(await deleteStream(writes, address))) throw notFound("stream", address.stream_id);
}

/** Replaces the secret of a stream. The old secret also signs until the overlap ends (AU-97). */
export async function rotateSecret(
  deps: StreamCommandDeps,
  address: StreamAddress,
  overlapS: number,
): Promise<AuditStreamWithSecret> {
  const secret = newSecret();
  const sealed = secretsOf(deps).seal(secret, address.stream_id);
  const row = await deps.writes.transaction("rotate_stream_secret", async (tx) => {
    await updateSecret(tx, address, sealed, overlapS);
    return selectStream(tx, address);
  });
  return { ...row, secret };
}
