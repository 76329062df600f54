import type { Clock } from "@ostiary/lib/async";
import { ApiError, notFound, validationError } from "@ostiary/lib/domain/errors";
import { parseTime } from "@ostiary/lib/domain/schemas";
import type { Database, Orm } from "@ostiary/lib/runtime/stores/database";
import { ulid } from "ulid";
import type { ChainPlace } from "./batch.ts";
import { Receiver, type ReceiverDeps } from "./receiver-call.ts";
import { newSecret, type SecretBox, signedHeaders } from "./secrets.ts";
import {
  countStreams,
  deleteStream,
  hastenStream,
  insertStream,
  lockStream,
  lockStreams,
  replaceSecret,
  type StreamAddress,
  selectForTest,
  selectStart,
  selectStream,
  updateStream,
} from "./sql.ts";
import {
  type AuditStream,
  type AuditStreamTest,
  type AuditStreamWithSecret,
  type CreateStreamBody,
  STREAMS_MAX,
  type StreamFilter,
  type StreamRow,
  streamsOff,
  tooManyStreams,
  toStream,
  type UpdateStreamBody,
} from "./stream.ts";
import { urlWithoutQuery } from "./targets.ts";

export interface StreamCommandDeps {
  writes: Database;
  /** Null if AUDIT_STREAM_KEY_FILE is not set. */
  secrets: SecretBox | null;
  receivers: ReceiverDeps;
  clock: Clock;
}

/** Creates a stream with a secret of its own (AU-92, AU-95). */
export async function createStream(
  deps: StreamCommandDeps,
  organization_id: string,
  body: CreateStreamBody,
): Promise<AuditStreamWithSecret> {
  const stream_id = ulid(deps.clock.now());
  const secret = newSecret();
  const sealed = await secretsOf(deps).seal(secret, stream_id);
  const address = { organization_id, stream_id };
  const row = await deps.writes.transaction(
    "create_stream",
    async (tx) => {
      await lockStreams(tx, organization_id);
      if ((await countStreams(tx, organization_id)) >= STREAMS_MAX) {
        throw new ApiError(tooManyStreams.code, tooManyStreams);
      }
      const { url, format = "ostiary" } = body;
      const start = await startPlace(tx, organization_id, body);
      await insertStream(tx, {
        ...address,
        url,
        format,
        filter: filterOf(body.filter),
        secret: sealed,
        start,
      });
      return requireRow(await selectStream(tx, address), stream_id);
    },
    { lane: `streams of ${organization_id}` },
  );
  return { ...toStream(row), secret };
}

/**
 * Returns the box that encrypts secrets.
 *
 * @throws ApiError 409 if the service has no key for secrets
 */
function secretsOf({ secrets }: StreamCommandDeps): SecretBox {
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

/** Returns the place after which a new stream begins: the end of the log, or before the requested entry. */
async function startPlace(
  tx: Orm,
  organization_id: string,
  { from_position, from_time }: CreateStreamBody,
): Promise<ChainPlace> {
  const position = from_position ?? null;
  const time = from_time === undefined ? null : (parseTime(from_time)?.toString() ?? null);
  const start = await selectStart(tx, organization_id, { position, time });
  if (position !== null && position > start.end + 1) {
    const message = `from_position must be at most ${start.end + 1}, the next position of the log.`;
    throw validationError([{ path: "from_position", message }]);
  }
  const { chain } = start;
  if (chain === null)
    throw new Error("An entry of the log is missing before the place where a stream begins.");
  return { position: start.position, chain };
}

function requireRow(row: StreamRow | null, stream_id: string): StreamRow {
  if (row === null) throw notFound("stream", stream_id);
  return row;
}

/**
 * Reads a stream.
 *
 * @throws ApiError 404 if the organization has no such stream
 */
export async function readStream(deps: StreamCommandDeps, address: StreamAddress): Promise<AuditStream> {
  const row = await deps.writes.run("select_stream", (orm) => selectStream(orm, address));
  return toStream(requireRow(row, address.stream_id));
}

type Details = Record<string, { from: unknown; to: unknown }>;

/** Changes a stream. The change does not affect a delivery request in flight. */
export async function changeStream(
  deps: StreamCommandDeps,
  address: StreamAddress,
  body: UpdateStreamBody,
): Promise<{ stream: AuditStream; details: Details }> {
  const change: UpdateStreamBody = {
    ...body,
    ...(body.filter !== undefined && { filter: filterOf(body.filter) }),
  };
  return deps.writes.transaction("update_stream", async (tx) => {
    const before = requireRow(await lockStream(tx, address), address.stream_id);
    await updateStream(tx, address, change);
    const after = requireRow(await selectStream(tx, address), address.stream_id);
    return { stream: toStream(after), details: detailsOf(before, after) };
  });
}

function detailsOf(before: StreamRow, after: StreamRow): Details {
  const shown = ({ url, format, filter, status }: StreamRow) => ({
    url: urlWithoutQuery(url),
    format,
    filter,
    status,
  });
  const [from, to] = [shown(before), shown(after)];
  const names = ["url", "format", "filter", "status"] as const;
  return Object.fromEntries(
    names
      .filter((name) => before[name] !== after[name] && !Bun.deepEquals(before[name], after[name]))
      .map((name) => [name, { from: from[name], to: to[name] }]),
  );
}

export async function removeStream(deps: StreamCommandDeps, address: StreamAddress): Promise<void> {
  const isDeleted = await deps.writes.transaction("delete_stream", (tx) => deleteStream(tx, address));
  if (!isDeleted) throw notFound("stream", address.stream_id);
}

/** Replaces the secret of a stream. The old secret also signs until the overlap ends (AU-97). */
export async function rotateSecret(
  deps: StreamCommandDeps,
  address: StreamAddress,
  overlapS: number,
): Promise<AuditStreamWithSecret> {
  const secret = newSecret();
  const sealed = await secretsOf(deps).seal(secret, address.stream_id);
  const row = await deps.writes.transaction("rotate_stream_secret", async (tx) => {
    requireRow(await lockStream(tx, address), address.stream_id);
    await replaceSecret(tx, address, sealed, overlapS);
    return requireRow(await selectStream(tx, address), address.stream_id);
  });
  return { ...toStream(row), secret };
}

/** Sends the receiver a signed message without an event, and returns the result (AU-99). */
export async function testStream(deps: StreamCommandDeps, address: StreamAddress): Promise<AuditStreamTest> {
  const { writes, clock } = deps;
  const stream = await selectForTest(writes, address);
  if (stream === null) throw notFound("stream", address.stream_id);
  const box = secretsOf(deps);
  const secrets = [await box.open(stream.secret, stream.id)];
  if (stream.previous_secret !== null) secrets.push(await box.open(stream.previous_secret, stream.id));
  const body = Buffer.from(
    JSON.stringify({
      type: "audit.test",
      timestamp: new Date(clock.now()).toISOString(),
      data: { stream_id: stream.id, organization_id: address.organization_id },
    }),
  );
  const receiver = new Receiver(stream.url, deps.receivers);
  const begunMs = clock.elapsedMs();
  try {
    const message = { id: `test_${ulid(clock.now())}`, body };
    const result = await receiver.post(body, signedHeaders(message, secrets, clock.now()));
    const duration_ms = Math.round(clock.elapsedMs() - begunMs);
    if (result.outcome === "accepted") {
      await hastenStream(writes, stream.id);
      return { delivered: true, status: result.status, error: null, duration_ms };
    }
    if (result.outcome === "aborted")
      throw new Error("A test call has no abort signal, but it ended as aborted.");
    return { delivered: false, status: result.status, error: result.error, duration_ms };
  } finally {
    receiver.close();
  }
}
