import { pause } from "@ostiary/lib/async";
import { batchOf } from "./batch.ts";
import { type DeliveryDeps, deliverTurn, type LeasedCursor, SLOW_CALL_MS } from "./delivery.ts";
import { advanceStream, claimStreams, type DeliveryRow, failStream, selectNext } from "./delivery-sql.ts";
import type { Lane, Streams } from "./dispatcher.ts";
import type { EntryRow } from "./entry.ts";
import { releaseLease, renewLeases, STREAMS } from "./lease-sql.ts";
import { secretsThatSign } from "./secret-sql.ts";
import { type SecretBox, SecretUnreadable } from "./secrets.ts";

interface OrganizationStreamsDeps extends DeliveryDeps {
  secrets: SecretBox;
}

/** The maximum number of streams of one lane that a replica delivers at once. */
const LANE_MAX = 32;

/**
 * Returns the streams of organizations. Receivers that responded fast have a lane of their own, and so have receivers
 * that were not called yet, so receivers that are slow or fail delay neither (AU-117).
 */
export function organizationStreams(deps: OrganizationStreamsDeps): Streams<DeliveryRow> {
  const { writes } = deps;
  const lane = (is_slow: boolean | null): Lane<DeliveryRow> => ({
    max: LANE_MAX,
    claim: (lease, limit) => claimStreams(writes, lease, is_slow, limit),
  });
  return {
    lanes: [lane(false), lane(null), lane(true)],
    renew: (held) => renewLeases(writes, STREAMS, held),
    deliver: (row, turn) => deliverTurn(deps, streamCursor(deps, row, turn.lease), turn),
  };
}

/**
 * The minimum time for each entry while a stream catches up, which allows at most 5000 entries a second. The limit
 * leaves most of the process's time to writes of events (AU-118).
 */
const ENTRY_MS_MIN = 0.2;

/** The pause of a stream whose next entry is missing. */
const STUCK_MS = 60_000;

function streamCursor(deps: OrganizationStreamsDeps, row: DeliveryRow, lease: string): LeasedCursor {
  const { reads, writes, clock, log, metrics } = deps;
  const { id, organization_id, url } = row;
  let stream = row;
  let isStuck = false;
  const advance = async (position: number, delivered: EntryRow | null, callMs: number | null) => {
    const is_slow = callMs !== null && callMs > SLOW_CALL_MS;
    const next = await advanceStream(writes, id, lease, { position, delivered, is_slow });
    if (next !== null) stream = next;
    return next !== null && next.url === url;
  };
  /** Waits until `untilMs` if the stream still has entries to deliver. */
  const pace = async (untilMs: number) => {
    const restMs = untilMs - clock.elapsedMs();
    if (restMs > 0 && stream.position < stream.head) await pause(clock, restMs);
  };
  return {
    url,
    failures: () => stream,
    async next() {
      if (stream.status === "paused") return null;
      const begunMs = clock.elapsedMs();
      const next = await selectNext(reads, stream);
      const { entries, scanned, after } = next;
      isStuck = next.isStuck;
      if (scanned === stream.position) return null;
      const batch = batchOf(stream, [{ organization_id, after, entries }], clock.now());
      const taken = batch.parts.at(0)?.entries ?? [];
      const last = taken.at(-1);
      const position = last === undefined || taken.length === entries.length ? scanned : last.position;
      return {
        messageId: `${id}-${taken.at(0)?.position}-${last?.position}`,
        body: last === undefined ? null : batch.body,
        count: taken.length,
        async advance(callMs) {
          const hasMore = await advance(position, callMs === null ? null : (last ?? null), callMs);
          if (hasMore && callMs !== null) await pace(begunMs + taken.length * ENTRY_MS_MIN);
          return hasMore;
        },
      };
    },
    secrets() {
      try {
        return secretsThatSign(stream).map((text) => deps.secrets.open(text, id));
      } catch (error) {
        if (!(error instanceof SecretUnreadable)) throw error;
        log.error(
          { stream_id: id, reason: error.message },
          "the audit service cannot read the secret of a stream",
        );
        return null;
      }
    },
    async fail(error, plan) {
      const status = await failStream(writes, row, lease, error, plan);
      if (status !== "paused" || !plan.givesUp) return;
      metrics.paused();
      const about = { stream_id: id, organization_id, reason: error };
      log.warn(about, "the audit service paused a stream: its receiver is gone, or failed for 72 hours");
    },
    async release() {
      if (isStuck)
        log.error({ stream_id: id }, "an audit stream waits for an entry that is missing from the log");
      await releaseLease(writes, STREAMS, { id, lease }, isStuck ? STUCK_MS : 0);
    },
  };
}
