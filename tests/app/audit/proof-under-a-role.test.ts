import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { migrate } from "@ostiary/audit/migrate";
import { monthOf } from "@ostiary/lib/domain/proof";
import { openDatabase } from "@ostiary/lib/runtime/stores/database";
import postgres from "postgres";
import { rejection, services, waitFor } from "../../support/index.ts";
import { type AuditService, intent, requestId } from "./audit-service.ts";
import { exportProof, keysOf, startProvenAudit, verify, writeEvents, writeSigningKey } from "./proof-bed.ts";
import { makeMonth, writePast } from "./retention-bed.ts";
import { newOwnedLog, runOstiary, startOstiary } from "./service-role-bed.ts";

setDefaultTimeout(60_000);

/** Returns the month that is `months` before the current month in UTC. */
const monthsAgo = (months: number) => monthOf(Date.now(), -months);

describe.skipIf(!services().postgres.binary)("when the service's role owns no part of the log,", () => {
  let log: Awaited<ReturnType<typeof newOwnedLog>>;
  let audit: AuditService;
  let sql: postgres.Sql;
  const key = writeSigningKey();
  const partitions = () =>
    sql`select inhrelid::regclass::text as name from pg_inherits
        where inhparent = 'audit.audit_events'::regclass order by name`;
  const start = (AUDIT_SIGNING_KEY_FILE: string) =>
    startProvenAudit({ databaseUrl: log.roleUrl, env: { AUDIT_SIGNING_KEY_FILE } });

  beforeAll(async () => {
    log = await newOwnedLog();
    sql = postgres(log.roleUrl, { max: 1, onnotice: () => {} });
    await migrate({ DATABASE_URL: log.ownerUrl, AUDIT_SIGNING_KEY_FILE: key }, log.role);
    audit = await start(key);
    // Wait for a signed checkpoint. Before the first one, the commands allow more than the tests expect.
    await writeEvents(audit, 1, { organization_id: "organization-first" });
    await waitFor(async () => {
      const { end } = await exportProof(audit, "/organizations/organization-first/audit-events");
      return end.checkpoint?.jws;
    });
  });
  afterAll(async () => {
    await sql.end();
    await audit.stop();
    await log.remove();
  });

  // AU-90
  test("only the owner publishes a key: the service does not start with a key that the log does not know", async () => {
    const other = writeSigningKey();
    expect(String(await rejection(start(other)))).toContain(
      "run ostiary audit migrate as the user that owns the log",
    );
    expect(await keysOf(audit)).toHaveLength(1);
    await migrate({ DATABASE_URL: log.ownerUrl, AUDIT_SIGNING_KEY_FILE: other }, log.role);
    const next = await start(other);
    expect(await keysOf(next)).toHaveLength(2);
    await next.stop();
  });

  // AU-91
  test.each([
    ["forward", "update audit.sealer set sealed_to = pg_current_snapshot()"],
    ["far forward", "update audit.sealer set sealed_to = '4000000000:4000000000:'"],
    ["back to the start", "update audit.sealer set sealed_to = '3:3:'"],
    ["forward, and unsigned", "update audit.sealer set sealed_to = pg_current_snapshot(), marks = null"],
    [
      "forward, with a malformed signature",
      "update audit.sealer set sealed_to = pg_current_snapshot(), marks = 'x'",
    ],
  ])("every event gets its position if the role moves the sealer's marks %s", async (where, statement) => {
    const owner = `moved-${where.replaceAll(/[ ,]+/g, "-")}`;
    const path = `/organizations/${owner}/audit-events`;
    await writeEvents(audit, 3, { organization_id: owner });
    const before = await exportProof(audit, path);
    // Write an event. At once, before the sealer gives it a position, change the sealer's marks, which record
    // how far the log is sealed.
    await sql.begin(async (tx) => {
      const id = requestId();
      await tx.unsafe(`with made as (
        insert into audit.audit_events (id, request_id, occurred_at, organization_id, actor_auth_type, service, method,
          route, params, ip)
        values ('${before.events[0]?.id.slice(0, 10)}ZZZZZZZZZZZZZZZZ', '${id}', now(), '${owner}', 'jwt', 's', 'GET',
          '/', '{}', '::') returning id, request_id, occurred_at)
        insert into audit.request_ids (id, request_id, occurred_at) select id, request_id, occurred_at from made`);
    });
    await sql.unsafe(statement);
    await audit.put(requestId(), intent({ organization_id: owner }));
    const keys = await keysOf(audit);
    const verdict = async () =>
      verify((await exportProof(audit, path)).text, keys, { checkpoints: [], end: before.end });
    await waitFor(
      async () => {
        const { complete, events } = await verdict();
        return complete && events === 5;
      },
      { what: "the positions of all events", timeoutMs: 20_000 },
    );
  });

  // AU-74
  test("the owner's command drops an old month while the service runs, and the role may not", async () => {
    const owner = await openDatabase(log.ownerUrl, { namespace: "audit" });
    for (const month of ["2020-01", "2020-02"]) await makeMonth(owner, month);
    await writePast(owner, "organization-old", "2020-01-10T00:00:00Z", 2);
    const path = "/organizations/organization-old/audit-events";
    await writeEvents(audit, 2, { organization_id: "organization-old" });
    const before = await exportProof(audit, path);
    const variables = { DATABASE_URL: log.ownerUrl, AUDIT_SIGNING_KEY_FILE: key };
    const denied = await runOstiary(
      { ...variables, DATABASE_URL: log.roleUrl },
      "drop",
      "--before",
      "2020-02",
    );
    expect([denied.exitCode, denied.stdout, denied.stderr]).toEqual([
      78,
      "",
      "The user of DATABASE_URL may not drop months: use the user that owns the log.",
    ]);
    expect(await runOstiary(variables, "drop", "--before", "2020-02")).toEqual({
      exitCode: 0,
      stdout: "Dropped 2020-01: 3 entries of 1 logs are declared.\n",
      stderr: "",
    });
    expect(await runOstiary(variables, "drop", "--before", "2020-01")).toMatchObject({
      exitCode: 0,
      stdout: "There is no month before 2020-01.\n",
    });
    const after = await exportProof(audit, path);
    expect(await verify(after.text, await keysOf(audit), { checkpoints: [], end: before.end })).toMatchObject(
      {
        complete: true,
        events: 2,
        dropped_entries: 3,
      },
    );
    await owner.close();
  });

  // OP-72, OP-73
  test("the owner's job drops months older than AUDIT_RETENTION_MONTHS, even if two jobs run at once", async () => {
    const owner = await openDatabase(log.ownerUrl, { namespace: "audit" });
    const names = [monthsAgo(3), monthsAgo(2)];
    for (const month of names) await makeMonth(owner, month);
    const organization_id = "organization-aged";
    const path = `/organizations/${organization_id}/audit-events`;
    for (const month of names) await writePast(owner, organization_id, `${month}-10T00:00:00Z`, 2);
    await writeEvents(audit, 2, { organization_id });
    const before = await exportProof(audit, path);
    const variables = {
      DATABASE_URL: log.ownerUrl,
      AUDIT_SIGNING_KEY_FILE: key,
      AUDIT_RETENTION_MONTHS: "2",
    };
    const denied = await runOstiary({ ...variables, DATABASE_URL: log.roleUrl }, "retention");
    expect(denied).toMatchObject({
      exitCode: 78,
      stderr: expect.stringContaining("use the user that owns the log"),
    });
    const jobs = await Promise.all([1, 2].map(() => runOstiary(variables, "retention")));
    expect(jobs.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual(
      jobs.map(() => ({ exitCode: 0, stderr: "" })),
    );
    expect(jobs.map(({ stdout }) => stdout).join("")).toContain(`Dropped ${names[0]}: `);
    const after = await exportProof(audit, path);
    // Both jobs may declare the month, so there can be two declarations of it.
    expect(new Set(after.end.retention?.map(({ month }) => month))).toEqual(new Set([monthsAgo(3)]));
    expect(await verify(after.text, await keysOf(audit), { checkpoints: [], end: before.end })).toMatchObject(
      {
        complete: true,
        events: 4,
        dropped_entries: 3,
      },
    );
    expect(await runOstiary(variables, "retention")).toEqual({
      exitCode: 0,
      stdout: `There is no month before ${monthsAgo(2)}.\n`,
      stderr: "",
    });
    await owner.close();
  });

  /**
   * Writes two events of a past month and two of the current one. Returns the environment variables of the
   * job, and a function that verifies the log against an export from before the job.
   */
  async function agedLog(organization_id: string, month: string) {
    const owner = await openDatabase(log.ownerUrl, { namespace: "audit" });
    await makeMonth(owner, month);
    await writePast(owner, organization_id, `${month}-10T00:00:00Z`, 2);
    await owner.close();
    await writeEvents(audit, 2, { organization_id });
    const path = `/organizations/${organization_id}/audit-events`;
    const { end } = await exportProof(audit, path);
    const variables = {
      DATABASE_URL: log.ownerUrl,
      AUDIT_SIGNING_KEY_FILE: key,
      AUDIT_RETENTION_MONTHS: "2",
    };
    const verdict = async () => {
      const found = await exportProof(audit, path);
      const { complete, events, dropped_entries } = await verify(found.text, await keysOf(audit), {
        checkpoints: [],
        end,
      });
      const declared = found.end.retention?.map((each) => each.month) ?? [];
      return { complete, events, dropped_entries, declared };
    };
    return { variables, verdict };
  }

  // OP-72, AU-74
  test("a job that is killed after its declaration leaves the month, and the next job does not declare it again", async () => {
    // The job drops the oldest month first, so no other test may have an older month.
    const month = "2019-05";
    const { variables, verdict } = await agedLog("organization-killed", month);
    const reader = postgres(log.superuserUrl, { max: 1, onnotice: () => {} });
    const look = postgres(log.superuserUrl, { max: 1, onnotice: () => {} });
    try {
      // The job declares the month, and then waits for this transaction before it drops the month.
      await reader`begin`;
      await reader`select from audit.audit_events limit 1`;
      const job = startOstiary(variables, "retention");
      const isDeclared = async () =>
        (await look`select from audit.retentions where month = ${month}`).length > 0;
      await waitFor(isDeclared, { what: "a declaration", timeoutMs: 30_000 });
      job.kill("SIGKILL");
      await job.exited;
      await reader`commit`;
      expect(await verdict()).toEqual({ complete: true, events: 4, dropped_entries: 0, declared: [month] });
      const next = await runOstiary(variables, "retention");
      expect(next).toMatchObject({ exitCode: 0, stderr: "" });
      expect(next.stdout).toContain(`Dropped ${month}: 0 entries of 0 logs are declared.`);
      expect(await verdict()).toEqual({ complete: true, events: 2, dropped_entries: 3, declared: [month] });
    } finally {
      await Promise.all([reader.end(), look.end()]);
    }
  });

  // OP-72, OP-73, AU-75
  test("a month with an altered event stays, and so do later months; the job exits with 1 and names the event", async () => {
    const [altered, after] = ["2019-07", "2019-08"];
    const { variables, verdict } = await agedLog("organization-altered", altered);
    const later = await agedLog("organization-after", after);
    const changeIp = (ip: string) =>
      log.admin.begin(async (tx) => {
        await tx`set local session_replication_role = replica`;
        await tx`update audit.audit_events set ip = ${ip}
          where organization_id = 'organization-altered' and occurred_at < ${`${after}-01T00:00:00Z`}`;
      });
    await changeIp("::9");
    const { exitCode, stdout, stderr } = await runOstiary(variables, "retention");
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/The intent of event \S+ is not what was sealed at position 1/);
    expect(await later.verdict()).toEqual({ complete: true, events: 4, dropped_entries: 0, declared: [] });
    await changeIp("::");
    expect(await runOstiary(variables, "retention")).toMatchObject({ exitCode: 0, stderr: "" });
    for (const [each, month] of [
      [verdict, altered],
      [later.verdict, after],
    ] as const) {
      expect(await each()).toEqual({ complete: true, events: 2, dropped_entries: 3, declared: [month] });
    }
  });

  // OP-72
  test.each([
    [{}, "AUDIT_RETENTION_MONTHS"],
    [{ AUDIT_RETENTION_MONTHS: "0" }, "AUDIT_RETENTION_MONTHS must be a whole number from 1 to 1200"],
    [{ AUDIT_RETENTION_MONTHS: "-1" }, "AUDIT_RETENTION_MONTHS must be a whole number from 1 to 1200"],
    [
      { AUDIT_RETENTION_MONTHS: "1000000000" },
      "AUDIT_RETENTION_MONTHS must be a whole number from 1 to 1200",
    ],
    [{ AUDIT_RETENTION_MONTHS: "1.5" }, "AUDIT_RETENTION_MONTHS must be a whole number from 1 to 1200"],
    [{ AUDIT_RETENTION_MONTHS: "1201" }, "AUDIT_RETENTION_MONTHS must be a whole number from 1 to 1200"],
    [{ AUDIT_RETENTION_MONTHS: "two" }, "AUDIT_RETENTION_MONTHS must be a whole number from 1 to 1200"],
    [{ AUDIT_RETENTION_MONTHS: "9", DATABASE_URL: "" }, "DATABASE_URL"],
    [
      { AUDIT_RETENTION_MONTHS: "9", AUDIT_USAGE_RETENTION_MONTHS: "13" },
      "AUDIT_USAGE_RETENTION_MONTHS must be a whole number from 14 to 1200",
    ],
  ])("retention with %p is exit code 78", async (variables, said) => {
    const { exitCode, stdout, stderr } = await runOstiary(
      { DATABASE_URL: log.ownerUrl, ...variables },
      "retention",
    );
    expect([exitCode, stdout, stderr.includes(said) ? said : stderr]).toEqual([78, "", said]);
  });

  test.each([
    [["retention", "--before", "2020-01"]],
    [["retention", "12"]],
    [["drop"]],
    [["drop", "--before"]],
    [["drop", "--before", "2020-13"]],
    [["drop", "--before", "2020-1"]],
    [["drop", "--before", "2020-01-01"]],
    [["drop", "--before", "yesterday"]],
    [["drop", "--before", "1999-12"]],
    [["drop", "2020-01"]],
  ])("%p is wrong usage, and drops nothing", async (parameters) => {
    const before = await partitions();
    expect(before).not.toBeEmpty();
    const { exitCode, stderr } = await runOstiary({ DATABASE_URL: log.ownerUrl }, ...parameters);
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/^error: /)]);
    expect(await partitions()).toEqual(before);
  });

  test.each([
    ["2099-01", {}, "ended less than two days ago"],
    ["2020-02", {}, "set AUDIT_SIGNING_KEY_FILE to the service's key file"],
    ["2020-02", { AUDIT_SIGNING_KEY_FILE: "/nowhere" }, "AUDIT_SIGNING_KEY_FILE must be a file"],
    ["2020-02", { AUDIT_SIGNING_KEY_FILE: writeSigningKey() }, "is not a key of this log"],
  ])("drop --before %s with %p is refused with exit code 78: it %s", async (before, variables, said) => {
    const given = { DATABASE_URL: log.ownerUrl, ...variables };
    const { exitCode, stderr } = await runOstiary(given, "drop", "--before", before);
    expect([exitCode, stderr.includes(said) ? said : stderr]).toEqual([78, said]);
  });
});
