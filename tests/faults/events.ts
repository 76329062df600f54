import postgres from "postgres";
import { waitFor } from "../support/wait-for.ts";
import type { LogHead } from "./load/stream-receiver.ts";

/** The time that waiting outcomes get to be written. */
const OUTCOMES_MS = 6_000;

/** A reader of the audit log in the database, past the lines that fail. */
export class AuditLog implements AsyncDisposable {
  readonly #sql: postgres.Sql;

  constructor(database_url: string) {
    this.#sql = postgres(database_url, { max: 1, onnotice: () => {} });
  }

  /**
   * Returns the outcomes of events since a time, by request id, once no event up to `until` is pending, or
   * after some seconds. Later pending events are given as `underway`, because nothing is known of them yet.
   */
  async since(from: Date, until: Date): Promise<ReadonlyMap<string, string>> {
    let events = await this.#read(from, until);
    const settled = async () => {
      events = await this.#read(from, until);
      return ![...events.values()].includes("pending");
    };
    await waitFor(settled, { timeout_ms: OUTCOMES_MS }).catch(() => {}); // Then some events stay pending
    return events;
  }

  /** Returns the sealed end of the log of each organization. */
  heads(): Promise<LogHead[]> {
    return this.#sql<LogHead[]>`
      select substring(owner from 14) as organization_id, position::float8 as position
      from audit.chains where owner like 'organization:%'`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sql.end({ timeout: 1 });
  }

  async #read(from: Date, until: Date): Promise<Map<string, string>> {
    const rows = await this.#sql<{ request_id: string; outcome: string }[]>`
      select request_id, case when outcome = 'pending' and occurred_at > ${until} then 'underway' else outcome end
        as outcome
      from audit.audit_events where occurred_at >= ${from}`;
    return new Map(rows.map(({ request_id, outcome }) => [request_id, outcome]));
  }
}
