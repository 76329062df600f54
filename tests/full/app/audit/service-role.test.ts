import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { migrate } from "@ostiary/audit/migrate";
import { makePartitions } from "@ostiary/audit/partitions";
import { openDatabase } from "@ostiary/lib/runtime/stores/database";
import { intent, requestId, startAudit, userIntent } from "../../../app/audit/audit-service.ts";
import { newOwnedLog, runOstiary } from "../../../app/audit/service-role-bed.ts";
import { services, waitFor } from "../../../support/index.ts";

setDefaultTimeout(60_000);

const onServer = describe.skipIf(!services().postgres.binary);

onServer("the service, under that role", () => {
  // AU-71
  test("writes, reads, exports, seals and creates partitions of future months, also in later years", async () => {
    const log = await newOwnedLog();
    const audit = await startAudit({ databaseUrl: log.roleUrl, env: { SEAL_INTERVAL_MS: "50" } });
    const [first, second] = [requestId(), requestId()];
    expect((await audit.put(first, intent())).status).toBe(201);
    expect((await audit.put(first, intent())).status).toBe(200);
    expect((await audit.put(second, userIntent())).status).toBe(201);
    expect((await audit.patch(first, { outcome: "responded", status: 200 })).status).toBe(204);
    expect((await audit.event(first))?.outcome).toBe("responded");
    const sealed = await waitFor(async () => {
      const answer = await audit.get("/organizations/organization-1/audit-events?proof=true", {
        accept: "application/x-ndjson",
      });
      const text = await answer.text();
      return answer.status === 200 && text.includes('"format":1') && text;
    });
    expect(sealed).toContain(first);
    const csv = await audit.get("/organizations/organization-1/audit-events", { accept: "text/csv" });
    expect([csv.status, (await csv.text()).includes(first)]).toEqual([200, true]);

    const database = await openDatabase(log.roleUrl, { namespace: "test", poolMax: 2 });
    const later = Date.UTC(2044, 1, 1);
    const made = await Promise.all([makePartitions(database, later), makePartitions(database, later)]);
    expect(made.flat().sort()).toEqual(
      ["2044_01", "2044_02", "2044_03", "2044_04"].map((month) => `audit_events_${month}`),
    );
    expect(await makePartitions(database, later)).toEqual([]);
    await database.close();
    await audit.stop();
    await log.remove();
  });
});

onServer("ostiary audit migrate", () => {
  test("migrate says that a new role has no password, and grants an existing role its rights", async () => {
    const log = await newOwnedLog();
    expect(log.told).toBe(
      `Migrated. The role ${log.role} can do the service's work. The role has no password yet: set one with \\password ${log.role} in psql.\n`,
    );
    await log.admin.unsafe(`grant delete on audit.audit_events to ${log.role}`);
    await migrate({ DATABASE_URL: log.superuserUrl }, log.role);
    const [may] = await log.admin.unsafe(
      `select has_table_privilege('${log.role}', 'audit.audit_events', 'delete') as may`,
    );
    expect(may?.may).toBe(false);
    await log.remove();
  });

  // AU-71
  test("migrate refuses the owner, a role that can become it, and a superuser", async () => {
    const log = await newOwnedLog();
    await log.admin.unsafe(`create role heir_${log.role} login in role ${log.owner}`);
    for (const role of [log.owner, `heir_${log.role}`, "postgres"]) {
      const refused = await runOstiary({ DATABASE_URL: log.superuserUrl }, "migrate", "--role", role);
      expect(refused.exitCode).toBe(78);
      expect(refused.stderr).toContain(`The role ${role}`);
    }
    await log.admin.unsafe(`drop role heir_${log.role}`);
    await log.remove();
  });
});
