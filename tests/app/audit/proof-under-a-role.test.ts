import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { migrate } from "@ostiary/audit/migrate";
import type { ProofEnd } from "@ostiary/lib/contracts/audit";
import { monthOf } from "@ostiary/lib/domain/proof";
import { openDatabase } from "@ostiary/lib/runtime/stores/database";
import postgres from "postgres";
import { services, waitFor } from "../../support/index.ts";
import { metricOf } from "../../support/telemetry/metrics.ts";
import { type AuditService, intent, requestId } from "./audit-service.ts";
import {
  exportProof,
  startProvenAudit,
  verifierKeyOf,
  verify,
  writeEvents,
  writeSigningKey,
} from "./proof-bed.ts";
import { makeMonth, writePast } from "./retention-bed.ts";
import { newOwnedLog, runOstiary, startOstiary } from "./service-role-bed.ts";

setDefaultTimeout(60_000);

/** Returns the months that an export declares as dropped. */
const declaredIn = ({ retention = [] }: ProofEnd) =>
  retention.flatMap((part) => (part.kind === "retention" ? [part.month] : []));

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
    await migrate({ DATABASE_URL: log.ownerUrl }, log.role);
    audit = await start(key);
    // Wait for a signed root. Before the first one, the commands allow more than the tests expect.
    await writeEvents(audit, 1, { organization_id: "organization-first" });
    await waitFor(async () => {
      const { end } = await exportProof(audit, "/organizations/organization-first/audit-events");
      return end.note;
    });
  });
  afterAll(async () => {
    await sql.end();
    await audit.stop();
    await log.remove();
  });

  // AU-91
  test.each([
    ["forward", "sealed_to = pg_current_snapshot()"],
    ["far forward", "sealed_to = '4000000000:4000000000:'"],
    ["back to the start", "sealed_to = '3:3:'"],
  ])("every event gets its position if the role moves the sealer's row %s", async (where, change) => {
    const organization_id = `moved-${where.replaceAll(" ", "-")}`;
    const path = `/organizations/${organization_id}/audit-events`;
    await writeEvents(audit, 3, { organization_id });
    await exportProof(audit, path);
    // Writes an event and at once moves the sealer's row, which records how far the log is sealed.
    await audit.put(requestId(), intent({ organization_id }));
    await sql.unsafe(`update audit.sealer set ${change}`);
    await audit.put(requestId(), intent({ organization_id }));
    const { text } = await waitFor(() => exportProof(audit, path).catch(() => null), { timeoutMs: 30_000 });
    expect(await verify(text, verifierKeyOf(key))).toMatchObject({ result: "complete", events: 5 });
  });

  // AU-155
  test("the role cannot make the service sign a leaf of its own, not even after it takes the signed root away", async () => {
    const [state] = await sql<{ note: string; number: string }[]>`
      select note, (select max(number) from audit.leaves) as number from audit.sealer`;
    const number = Number(state?.number) + 1;
    await audit.stop();
    await sql`insert into audit.leaves (number, sealed_at, map, hashes)
      values (${number}, now(), sha256('x'), decode(repeat('00', 512), 'hex'))`;
    for (const note of [state?.note ?? "", null]) {
      await sql`update audit.sealer set note = ${note}`;
      const forged = await start(key);
      await forged.put(requestId(), intent({ organization_id: "forged" }));
      await waitFor(async () => (await metricOf(forged, "audit_seal_failures_total")) > 0);
      const [after] = await sql<{ note: string | null }[]>`select note from audit.sealer`;
      expect(after?.note ?? null).toBe(note);
      await forged.stop();
    }
    await log.admin.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await tx`delete from audit.leaves where number = ${number}`;
      await tx`update audit.sealer set note = ${state?.note ?? ""}`;
    });
    audit = await start(key);
    await exportProof(audit, "/organizations/forged/audit-events");
  });

  // AU-74
  test("the owner's command drops an old month while the service runs, and the role may not", async () => {
    const owner = await openDatabase(log.ownerUrl, { namespace: "audit" });
    for (const month of ["2020-01", "2020-02"]) await makeMonth(owner, month);
    await writePast(owner, "organization-old", "2020-01-10T00:00:00Z", 2);
    const path = "/organizations/organization-old/audit-events";
    await writeEvents(audit, 2, { organization_id: "organization-old" });
    await exportProof(audit, path);
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
      "The user of DATABASE_URL may not do this: use the user that owns the log.",
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
    expect(await verify(after.text, verifierKeyOf(key))).toMatchObject({
      result: "complete",
      events: 2,
      dropped: { entries: 3 },
    });
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
    await exportProof(audit, path);
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
    expect(new Set(declaredIn(after.end))).toEqual(new Set([monthsAgo(3)]));
    expect(await verify(after.text, verifierKeyOf(key))).toMatchObject({
      result: "complete",
      events: 4,
      dropped: { entries: 3 },
    });
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
    await exportProof(audit, path);
    const variables = {
      DATABASE_URL: log.ownerUrl,
      AUDIT_SIGNING_KEY_FILE: key,
      AUDIT_RETENTION_MONTHS: "2",
    };
    const verdict = async () => {
      const read = await exportProof(audit, path);
      const { result, events, dropped } = await verify(read.text, verifierKeyOf(key));
      return { result, events, dropped: dropped?.entries ?? 0, declared: declaredIn(read.end) };
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
        (await look`select from audit.declarations where month = ${month}`).length > 0;
      await waitFor(isDeclared, { what: "a declaration", timeoutMs: 30_000 });
      job.kill("SIGKILL");
      await job.exited;
      await reader`commit`;
      expect(await verdict()).toEqual({ result: "complete", events: 4, dropped: 0, declared: [month] });
      const next = await runOstiary(variables, "retention");
      expect(next).toMatchObject({ exitCode: 0, stderr: "" });
      expect(next.stdout).toContain(`Dropped ${month}: 3 entries of 1 logs are declared.`);
      expect(await verdict()).toEqual({ result: "complete", events: 2, dropped: 3, declared: [month] });
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
    expect(await later.verdict()).toEqual({ result: "complete", events: 4, dropped: 0, declared: [] });
    await changeIp("::");
    expect(await runOstiary(variables, "retention")).toMatchObject({ exitCode: 0, stderr: "" });
    for (const [each, month] of [
      [verdict, altered],
      [later.verdict, after],
    ] as const) {
      expect(await each()).toEqual({ result: "complete", events: 2, dropped: 3, declared: [month] });
    }
  });

  // AU-203
  test("the owner restarts the log of an organization whose rows cannot be restored, and the role may not", async () => {
    const organization_id = "organization-restarted";
    const path = `/organizations/${organization_id}/audit-events`;
    await writeEvents(audit, 3, { organization_id });
    await exportProof(audit, path);
    await log.admin.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await tx`delete from audit.audit_events where organization_id = ${organization_id} and outcome = 'pending'`;
    });
    const variables = { DATABASE_URL: log.ownerUrl, AUDIT_SIGNING_KEY_FILE: key };
    const parameters = ["restart", "--owner", `organization:${organization_id}`];
    expect(await runOstiary({ ...variables, DATABASE_URL: log.roleUrl }, ...parameters)).toMatchObject({
      exitCode: 78,
      stderr: "The user of DATABASE_URL may not do this: use the user that owns the log.",
    });
    expect(await runOstiary(variables, ...parameters)).toMatchObject({
      exitCode: 0,
      stdout: `The log of organization:${organization_id} continues after position 5. The positions 5 to 5 are given up; every later export says so.\n`,
    });
    await writeEvents(audit, 1, { organization_id });
    const { text } = await waitFor(() => exportProof(audit, path).catch(() => null), { timeoutMs: 30_000 });
    expect(await verify(text, verifierKeyOf(key))).toMatchObject({
      result: "undecided",
      restarts: [{ from: 5, position: 6 }],
    });
    const never = await runOstiary(variables, "restart", "--owner", "user:nobody");
    expect([never.exitCode, never.stderr]).toEqual([78, expect.stringContaining("was never sealed")]);
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
    [["restart"]],
    [["restart", "--owner", "x"]],
    [["restart", "--owner", "organization:x", "--origin", "audit.example.com/log"]],
    [["restart", "--origin", "a b"]],
    [["restart", "--origin", ""]],
  ])("%p is wrong usage, and drops nothing", async (parameters) => {
    const before = await partitions();
    expect(before).not.toBeEmpty();
    const { exitCode, stderr } = await runOstiary({ DATABASE_URL: log.ownerUrl }, ...parameters);
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/^error: /)]);
    expect(await partitions()).toEqual(before);
  });

  test.each([
    ["2099-01", { AUDIT_SIGNING_KEY_FILE: key }, "ended less than two days ago"],
    ["2020-02", {}, "set AUDIT_SIGNING_KEY_FILE to the service's key file"],
    ["2020-02", { AUDIT_SIGNING_KEY_FILE: "/nowhere" }, "AUDIT_SIGNING_KEY_FILE must be a file"],
    [
      "2020-02",
      { AUDIT_SIGNING_KEY_FILE: writeSigningKey() },
      "No key of AUDIT_SIGNING_KEY_FILE signed the stored root",
    ],
  ])("drop --before %s with %p is refused with exit code 78: it %s", async (before, variables, said) => {
    const given = { DATABASE_URL: log.ownerUrl, ...variables };
    const { exitCode, stderr } = await runOstiary(given, "drop", "--before", before);
    expect([exitCode, stderr.includes(said) ? said : stderr]).toEqual([78, said]);
  });
});
