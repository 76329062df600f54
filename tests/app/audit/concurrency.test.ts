import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { freshDatabase, services, waitFor } from "../../support/index.ts";
import {
  type AuditService,
  intent,
  openLog,
  requestId,
  sqlOn,
  startAudit,
  userIntent,
} from "./audit-service.ts";

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
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, n) => {
          const occurred_at = new Date(Date.now() - (n % 24) * 3_600_000).toISOString();
          return replica(n).put(id, intent({ occurred_at, service: `service-${n}` }));
        }),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([...Array(39).fill(200), 201]);
      const created = answers.findIndex(({ status }) => status === 201);
      const { audit_events } = await replica(round).list(`${PATH}?request_id=${id}`);
      expect(audit_events).toMatchObject([{ service: `service-${created}` }]);
    }
  });

  // AU-18
  test("apply one of many concurrent outcomes of an event, and answer all of them with 204", async () => {
    for (let round = 0; round < 3; round++) {
      const id = requestId();
      await replica(round).put(id, userIntent());
      const answers = await Promise.all(
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
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(204));
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
