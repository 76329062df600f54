import { type Clock, Loop } from "@ostiary/lib/async";
import { type Database, query } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { type OperatorReading, selectOperatorReading } from "./operator/sql.ts";
import type { AuditStream } from "./stream.ts";

const READ_MS = 10_000;
const RETRY_MS = 5_000;

interface StreamWatchDeps {
  reads: Database;
  clock: Clock;
  log: Pick<Logger, "warn">;
  hasOperatorStream: boolean;
}

interface StreamReadings {
  /** One reading for each status. Empty before the first read and after a failed read. */
  statuses: readonly StatusReading[];
  /** The reading of the operator's own stream, or null if there is none. */
  operator: OperatorReading | null;
}

/**
 * Returns a loop that reads the states of all streams from the database, for the metrics. Runs without a key for
 * secrets too, because the metrics must show that organizations then get no deliveries (AU-107).
 */
export function watchStreams({ reads, clock, log, hasOperatorStream }: StreamWatchDeps) {
  const newest: StreamReadings = { statuses: [], operator: null };
  const loop = new Loop({
    task: async () => {
      newest.statuses = await selectStatuses(reads);
      if (hasOperatorStream) newest.operator = await selectOperatorReading(reads);
    },
    pauseMs: READ_MS,
    retryMs: RETRY_MS,
    onFailure: (err, retry_in_ms) => {
      Object.assign(newest, { statuses: [], operator: null });
      log.warn({ err, retry_in_ms }, "the audit service could not read the states of streams");
    },
    clock,
  });
  return { loop, newest };
}

export interface StatusReading {
  status: AuditStream["status"];
  streams: number;
  /** The largest number of entries that one of these streams has yet to deliver. */
  lag_entries: number;
  /** The longest wait of these streams. */
  wait_s: number;
}

/**
 * Returns a reading for each status. The wait of a stream begins when the stream may deliver, or when its next event
 * occurred if that time is later. So neither an old backlog nor a pause after a failure counts as waiting.
 */
function selectStatuses(database: Database): Promise<StatusReading[]> {
  return query<StatusReading>(database, "select_stream_statuses")`
    select known.status, count(stream.id)::integer as streams,
        coalesce(max(greatest(chain.position - stream.position, 0)), 0)::float8 as lag_entries,
        coalesce(max(case when stream.status <> 'paused' and chain.position > stream.position then
          greatest(extract(epoch from clock_timestamp() - greatest(stream.next_attempt_at, entry.occurred_at)), 0)
        end), 0)::float8 as wait_s
      from (values ('active'), ('failing'), ('paused')) as known(status)
      left join audit.streams stream on stream.status = known.status
      left join audit.chains chain on chain.owner = 'organization:' || stream.organization_id
      left join audit.entries entry on entry.chain_id = chain.id and entry.position = stream.position + 1
        and stream.status <> 'paused'
      group by known.status`;
}
