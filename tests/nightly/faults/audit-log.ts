import type postgres from "postgres";
import { connect } from "../../support/stores/sql.ts";
import { waitFor } from "../../support/time/wait-for.ts";
import type { LogHead } from "./load/stream-receiver.ts";

const OUTCOMES_MS = 6_000;

/**
 * A reader of the audit log. It connects to the database directly, so it works during faults of network
 * links.
 */
export class AuditLog implements AsyncDisposable {
  readonly #sql: postgres.Sql;

  constructor(databaseUrl: string) {
    this.#sql = connect(databaseUrl);
  }

  /**
   * Returns the outcomes of all events since `from`, by request id. Waits some seconds for the outcomes of
   * events up to `until`. Events after `until` that are still pending have the outcome `underway`.
   */
  async since(from: Date, until: Date): Promise<ReadonlyMap<string, string>> {
    let events = await this.#read(from, until);
    const settled = async () => {
      events = await this.#read(from, until);
      return ![...events.values()].includes("pending");
    };
    await waitFor(settled, { timeoutMs: OUTCOMES_MS }).catch(() => {}); // Some events may stay pending.
    return events;
  }

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
