import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { EventWriter } from "@ostiary/audit/writes/commands";
import { systemClock } from "@ostiary/lib/async";
import type { AuditIntent, AuditOutcome } from "@ostiary/lib/contracts/audit";
import { type Database, openDatabase, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { services, waitFor } from "../../support/index.ts";
import { openLog, requestId, startAudit } from "./audit-service.ts";

setDefaultTimeout(60_000);

const ROUNDS = 8;
const EVENTS = 200;
const applied: AuditOutcome = { outcome: "responded", status: 200 };
const named: AuditOutcome = { ...applied, organization_id: "organization-7", member_id: "member-7" };

/** The writer of one replica, with its own connection pool. */
interface Replica {
  writer: EventWriter;
  database: Database;
}

describe.skipIf(!services().postgres.real)("the same requests in opposite orders on two replicas", () => {
  let log: Database;
  let replicas: [Replica, Replica];

  const openReplica = async (databaseUrl: string): Promise<Replica> => {
    const database = await openDatabase(databaseUrl, { namespace: "audit", poolMax: 5 });
    const writer = new EventWriter({ database, clock: systemClock, keepPartitions: async () => {} });
    return { writer, database };
  };

  beforeAll(async () => {
    const audit = await startAudit();
    log = await openLog(audit);
    await audit.stop();
    replicas = [await openReplica(audit.databaseUrl), await openReplica(audit.databaseUrl)];
  });
  afterAll(() => log.close());

  // AU-28
  test("never deadlock", async () => {
    const [first, second] = replicas;
    for (let round = 0; round < ROUNDS; round++) {
      const ids = Array.from({ length: EVENTS }, requestId);
      const onBoth = <T>(write: (writer: EventWriter, id: string) => Promise<T>) =>
        Promise.all([
          ...ids.map((id) => write(first.writer, id)),
          ...ids.toReversed().map((id) => write(second.writer, id)),
        ]);
      const created = await onBoth((writer, id) => writer.intent(id, intentOf(round)));
      expect(created.filter((result) => result === "created")).toHaveLength(EVENTS);
      const answers = await onBoth((writer, id) => writer.outcome(id, round % 2 === 0 ? applied : named));
      expect(answers.toSorted()).toEqual([
        ...Array(EVENTS).fill("already_final"),
        ...Array(EVENTS).fill("applied"),
      ]);
    }
    await Promise.all(replicas.map(({ database }) => database.close()));
    expect(await deadlocks()).toBe(0);
  });

  /**
   * Returns how many deadlocks the database server counted. The results of writes do not show deadlocks,
   * because the writer retries.
   */
  async function deadlocks(): Promise<number | undefined> {
    // A connection may report its statistics only when it closes, so wait until all are closed.
    await waitFor(async () => (await numberOf(connections)) === 0, { what: "the end of the connections" });
    return numberOf(sql`select deadlocks as number from pg_stat_database where datname = current_database()`);
  }

  async function numberOf(statement: typeof connections): Promise<number | undefined> {
    const found = await log.run("number", (orm) => rows<{ number: number }>(orm, statement));
    return found[0]?.number;
  }
});

const connections = sql`select count(*) as number from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and query ~ 'with given as'`;

/** Returns an intent in a person's log. Only outcomes of such intents may name an organization. */
function intentOf(round: number): AuditIntent {
  return {
    occurred_at: new Date().toISOString(),
    organization_id: null,
    user_id: "user-1",
    actor: { member_id: null, auth_type: "jwt", key_prefix: null },
    service: "widgets",
    method: "POST",
    route: "/user/widgets/{widget_id}",
    params: { widget_id: `widget-${round}` },
    ip: "192.0.2.1",
    user_agent: null,
  };
}
