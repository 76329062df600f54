import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { freshDatabase, services, waitFor } from "../../support/index.ts";
import { metricOf } from "../../support/telemetry/metrics.ts";
import {
  type AuditService,
  intent,
  json,
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

  // AU-28
  test("apply batches of the same events in opposite orders, each event once", async () => {
    for (let round = 0; round < 4; round++) {
      const ids = Array.from({ length: 100 }, requestId);
      await Promise.all(ids.map((id, n) => replica(n).put(id, intent())));
      const outcomes = ids.map((request_id) => ({ request_id, outcome: "rejected", status: 403 }));
      const answers = await Promise.all([
        replica(0).postOutcomes({ outcomes }),
        replica(1).postOutcomes({ outcomes: outcomes.toReversed() }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      const [one, other] = await Promise.all(answers.map(async (answer) => (await json(answer)).results));
      for (const [index, { result }] of one.entries()) {
        expect([result, other.at(-1 - index).result].toSorted()).toEqual(["already_final", "applied"]);
      }
    }
  });

  // OP-50
  test("count the result of every write", async () => {
    const names = [
      ...["created", "existing"].map((result) => `audit_intents_total{result="${result}"}`),
      ...["applied", "already_final", "not_found"].map(
        (result) => `audit_outcomes_total{result="${result}"}`,
      ),
    ];
    const countOf = async (name: string) =>
      (await metricOf(replica(0), name)) + (await metricOf(replica(1), name));
    const counts = () => Promise.all(names.map(countOf));
    const before = await counts();
    const id = requestId();
    await replica(0).put(id, intent());
    await replica(1).put(id, intent());
    for (const n of [0, 1, 2]) await replica(n).patch(id, { outcome: "rejected", status: 403 });
    await replica(0).patch("nobody", { outcome: "rejected", status: 403 });
    await replica(0).put(requestId(), {});
    const added = [1, 1, 1, 2, 1];
    expect(await counts()).toEqual(before.map((each, index) => each + (added[index] ?? 0)));
  });
});
