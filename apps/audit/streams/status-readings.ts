import { type Clock, Loop } from "@ostiary/lib/async";
import { type Database, query } from "@ostiary/lib/runtime/stores/database";
import { collectedGauge, type Logger, type Metrics } from "@ostiary/lib/runtime/telemetry";
import { type OperatorReading, selectOperatorReading } from "./operator/operator-stream-sql.ts";
import type { AuditStream } from "./stream.ts";

const READ_MS = 10_000;
const RETRY_MS = 5_000;

interface StreamWatchDeps {
  reads: Database;
  clock: Clock;
  log: Pick<Logger, "warn">;
  metrics: Metrics;
  hasOperatorStream: boolean;
}

/**
 * Registers the gauges of all streams, and returns the loop that reads their states from the database. Runs without a
 * key for secrets too, because the metrics must show that organizations then get no deliveries (AU-107).
 */
export function watchStreams({ reads, clock, log, metrics, hasOperatorStream }: StreamWatchDeps): Loop {
  // empty before the first read and after a failed read
  let statuses: readonly StatusReading[] = [];
  let operator: OperatorReading | null = null;
  createStreamGauges(metrics, () => statuses);
  if (hasOperatorStream) createOperatorGauges(metrics, () => operator);
  return new Loop({
    task: async () => {
      statuses = await selectStatuses(reads);
      if (hasOperatorStream) operator = await selectOperatorReading(reads);
    },
    pauseMs: READ_MS,
    retryMs: RETRY_MS,
    onFailure: (err, retry_in_ms) => {
      statuses = [];
      operator = null;
      log.warn({ err, retry_in_ms }, "the audit service could not read the states of streams");
    },
    clock,
  });
}

interface StatusReading {
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

/** Registers the gauges of all streams. `readings` is called at each scrape. */
function createStreamGauges({ registry }: Metrics, readings: () => readonly StatusReading[]): void {
  const byStatus = (pick: (reading: StatusReading) => number) => () =>
    readings().map((reading) => ({ labels: { status: reading.status }, value: pick(reading) }));
  collectedGauge(registry, {
    name: "audit_streams",
    help: "Streams by status: active, failing or paused. Each replica reports all of them.",
    read: byStatus(({ streams }) => streams),
  });
  collectedGauge(registry, {
    name: "audit_stream_lag_entries",
    help: "The largest backlog of a single stream, in entries, by status (active, failing, paused).",
    read: byStatus(({ lag_entries }) => lag_entries),
  });
  collectedGauge(registry, {
    name: "audit_stream_wait_seconds",
    help: "The longest time that a stream could have delivered an entry and did not. Pauses do not count.",
    read() {
      const found = readings();
      return found.length > 0 ? Math.max(...found.map(({ wait_s }) => wait_s)) : [];
    },
  });
}

function createOperatorGauges({ registry }: Metrics, reading: () => OperatorReading | null): void {
  const read = (pick: (found: OperatorReading) => number) => () => {
    const found = reading();
    return found === null ? [] : pick(found);
  };
  collectedGauge(registry, {
    name: "audit_operator_stream_lag_seconds",
    help: "The age of the oldest leaf of the tree with entries that the operator's stream has not delivered.",
    read: read(({ lag_s }) => lag_s),
  });
  collectedGauge(registry, {
    name: "audit_operator_stream_failures",
    help: "Consecutive failed delivery requests of the operator's stream; 0 after a success.",
    read: read(({ failures }) => failures),
  });
}
