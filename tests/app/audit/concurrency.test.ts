import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { BATCH_MAX } from "@ostiary/lib/contracts/audit";
import { rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { freshDatabase, services, waitFor } from "../../support/index.ts";
import { type AuditService, intent, json, openLog, requestId, sqlOn, startAudit, userIntent } from "./bed.ts";

const PATH = "/organizations/organization-1/audit-events";

describe.skipIf(!services().postgres.real)("two replicas", () => {
  let replicas: [AuditService, AuditService];

  beforeAll(async () => {
    const databaseUrl = await freshDatabase();
    replicas = [await startAudit({ databaseUrl }), await startAudit({ databaseUrl })];
  });
  afterAll(() => Promise.all(replicas.map((replica) => replica.stop())));

  const replica = (n: number) => replicas[n % 2 === 0 ? 0 : 1];

  // AU-2
  test("write one event for a request, even if its concurrent intents name different times", async () => {
    for (let round = 0; round < 3; round++) {
      const id = requestId();
      const responses = await Promise.all(
        Array.from({ length: 40 }, (_, n) => {
          const occurred_at = new Date(Date.now() - (n % 24) * 3_600_000).toISOString();
          return replica(n).put(id, intent({ occurred_at, service: `service-${n}` }));
        }),
      );
      const statuses = responses.map(({ status }) => status).sort();
      expect(statuses).toEqual([...Array(39).fill(200), 201]);
      const created = responses.findIndex(({ status }) => status === 201);
      const { audit_events } = await replica(round).list(`${PATH}?request_id=${id}`);
      expect(audit_events).toMatchObject([{ service: `service-${created}` }]);
    }
  });

  // AU-18
  test("apply one of many concurrent outcomes of an event, and respond with 204 to all of them", async () => {
    for (let round = 0; round < 3; round++) {
      const id = requestId();
      await replica(round).put(id, userIntent());
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          replica(n).patch(id, {
            outcome: "responded",
            status: 200 + n,
            created_id: `created-${n}`,
            organization_id: "organization-7",
            member_id: `member-${n}`,
          }),
        ),
      );
      expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(204));
      const { audit_events } = await replica(0).list(`/users/user-1/audit-events?request_id=${id}`);
      const [event] = audit_events;
      const n = Number(event?.status) - 200;
      expect(event).toMatchObject({ created_id: `created-${n}`, actor: { member_id: `member-${n}` } });
      const found = await replica(1).list(
        `/organizations/organization-7/audit-events?params[widget_id]=widget-1&request_id=${id}`,
      );
      expect(found.audit_events).toHaveLength(1);
    }
  });

  // AU-23
  test("make an outcome wait while its intent is being written", async () => {
    const log = await openLog(replica(0));
    const id = requestId();
    const release = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const holding = log.transaction("hold", async (tx) => {
      await tx.execute(sql`lock table audit.request_ids in exclusive mode`);
      held.resolve();
      await release.promise;
    });
    await held.promise;
    const created = replica(0).put(id, intent());
    const other = await openLog(replica(0));
    await waitFor(async () => {
      const found = await sqlOn(other)<{ count: number }>`
        select count(*) from pg_locks where not granted and relation = 'audit.request_ids'::regclass`;
      return found[0]?.count === 1;
    });
    const applied = replica(0).patch(id, { outcome: "rejected", status: 503 });
    expect((await replica(0).patch("nobody", { outcome: "rejected", status: 503 })).status).toBe(404);
    release.resolve();
    expect([(await created).status, (await applied).status]).toEqual([201, 204]);
    await holding;
    await Promise.all([log.close(), other.close()]);
  });
});

// AU-28
test.skipIf(!services().postgres.real)(
  "two replicas that get the same events in opposite orders never deadlock",
  async () => {
    const databaseUrl = await freshDatabase();
    const replicas = [await startAudit({ databaseUrl }), await startAudit({ databaseUrl })] as const;
    for (let round = 0; round < 8; round++) {
      const ids = Array.from({ length: BATCH_MAX }, requestId);
      const onBoth = async (post: (to: AuditService, ids: readonly string[]) => Promise<Response>) => {
        const responses = await Promise.all([post(replicas[0], ids), post(replicas[1], ids.toReversed())]);
        const bodies: { results: { result: string }[] }[] = await Promise.all(responses.map(json));
        return bodies.flatMap(({ results }) => results.map(({ result }) => result)).toSorted();
      };
      const each = (...results: string[]) => results.flatMap((result) => Array(BATCH_MAX).fill(result));
      const item = userIntent();
      expect(
        await onBoth((to, all) =>
          to.postIntents({ intents: all.map((request_id) => ({ request_id, ...item })) }),
        ),
      ).toEqual(each("created", "existing"));
      const pair = round % 2 === 0 ? {} : { organization_id: "organization-7", member_id: "member-7" };
      const outcome = { outcome: "responded", status: 200, ...pair };
      expect(
        await onBoth((to, all) =>
          to.postOutcomes({ outcomes: all.map((request_id) => ({ request_id, ...outcome })) }),
        ),
      ).toEqual(each("already_final", "applied"));
    }
    // A connection may report its statistics only when it closes. Results of writes do not show deadlocks,
    // because a writer repeats them.
    await Promise.all(replicas.map((replica) => replica.stop()));
    await using log = await openLog(replicas[0]);
    const count = async (statement: string) =>
      (await log.run("count", (orm) => rows<{ count: number }>(orm, sql.raw(statement))))[0]?.count;
    await waitFor(
      async () =>
        (await count(`select count(*) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and query ~ 'with given as'`)) === 0,
    );
    expect(
      await count("select deadlocks as count from pg_stat_database where datname = current_database()"),
    ).toBe(0);
  },
  60_000,
);
