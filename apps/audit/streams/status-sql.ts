import { type Database, query } from "@ostiary/lib/runtime/stores/database";
import type { AuditStream } from "./stream.ts";

/** A summary of the streams with one status. */
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
export function selectStatuses(database: Database): Promise<StatusReading[]> {
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
