/** Tests the commands that the owner of the log runs beside a service whose role owns no part of it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { migrate } from "@ostiary/audit/migrate";
import type { ProofEnd } from "@ostiary/lib/contracts/audit";
import { monthOf } from "@ostiary/lib/domain/proof";
import { openDatabase } from "@ostiary/lib/runtime/stores/database";
import { type AuditService, logOf } from "../../../app/audit/bed.ts";
import {
  exportProof,
  startProvenAudit,
  tamperWith,
  verifierKeyOf,
  verify,
  writeEvents,
  writeSigningKey,
} from "../../../app/audit/proof-bed.ts";
import { makeMonth, writePast } from "../../../app/audit/retention-bed.ts";
import { newOwnedLog, runOstiary, startOstiary } from "../../../app/audit/service-role-bed.ts";
import { services, waitFor } from "../../../support/index.ts";
import { connect } from "../../../support/stores/sql.ts";

/** Returns the months that an export declares as dropped. */
const declaredIn = ({ retention = [] }: ProofEnd) =>
  retention.flatMap((part) => (part.kind === "retention" ? [part.month] : []));

/** Returns the month that is `months` before the current month in UTC. */
const monthsAgo = (months: number) => monthOf(Date.now(), -months);

const DENIED = {
  exitCode: 78,
  stdout: "",
  stderr: "The user of DATABASE_URL may not do this: use the user that owns the log.",
};

describe.skipIf(!services().postgres.binary)("when the service's role owns no part of the log,", () => {
  let log: Awaited<ReturnType<typeof newOwnedLog>>;
  let audit: AuditService;
  const key = writeSigningKey();
  const asOwner = () => ({
    DATABASE_URL: log.ownerUrl,
    AUDIT_SIGNING_KEY_FILE: key,
    AUDIT_RETENTION_MONTHS: "2",
  });
  const asRole = () => ({ ...asOwner(), DATABASE_URL: log.roleUrl });

  beforeAll(async () => {
    log = await newOwnedLog();
    audit = await startProvenAudit({ databaseUrl: log.roleUrl, env: { AUDIT_SIGNING_KEY_FILE: key } });
    // Wait for a signed root. Before the first one, the commands allow more than the tests expect.
    await writeEvents(audit, 1, { organization_id: "first" });
    await waitFor(async () => (await exportProof(audit, logOf("first"))).end.note);
  });
  afterAll(async () => {
    await audit.stop();
    await log.remove();
  });

  /** Writes two events of each past month and two of the current one. Returns a function that verifies the log. */
  async function agedLog(organization_id: string, ...months: string[]) {
    const owner = await openDatabase(log.ownerUrl, { namespace: "audit" });
    for (const month of months) {
      await makeMonth(owner, month);
      await writePast(owner, organization_id, `${month}-10T00:00:00Z`, 2);
    }
    await owner.close();
    await writeEvents(audit, 2, { organization_id });
    await exportProof(audit, logOf(organization_id));
    return async () => {
      const read = await exportProof(audit, logOf(organization_id));
      const { result, events, dropped } = await verify(read.text, verifierKeyOf(key));
      return { result, events, dropped: dropped?.entries ?? 0, declared: [...new Set(declaredIn(read.end))] };
    };
  }

  async function tamper(statements: string): Promise<void> {
    const owner = await openDatabase(log.superuserUrl, { namespace: "audit" });
    await tamperWith(owner, statements);
    await owner.close();
  }

  // OP-72, AU-74
  test("a job that is killed after its declaration leaves the month, and the next job does not declare it again", async () => {
    // The job drops the oldest month first, so no other test may have an older month.
    const month = "2019-05";
    const verdict = await agedLog("killed", month);
    const reader = connect(log.superuserUrl);
    const look = connect(log.superuserUrl);
    try {
      // The job declares the month, and then waits for this transaction before it drops the month.
      await reader`begin`;
      await reader`select from audit.audit_events limit 1`;
      const job = startOstiary(asOwner(), "retention");
      const isDeclared = async () =>
        (await look`select from audit.declarations where month = ${month}`).length > 0;
      await waitFor(isDeclared, { what: "a declaration" });
      job.kill("SIGKILL");
      await job.exited;
      await reader`commit`;
      expect(await verdict()).toEqual({ result: "complete", events: 4, dropped: 0, declared: [month] });
      const next = await runOstiary(asOwner(), "retention");
      expect(next).toMatchObject({ exitCode: 0, stderr: "" });
      expect(next.stdout).toContain(`Dropped ${month}: 3 entries of 1 logs are declared.`);
      expect(await verdict()).toEqual({ result: "complete", events: 2, dropped: 3, declared: [month] });
    } finally {
      await Promise.all([reader.end(), look.end()]);
    }
  });

  // OP-72, AU-75
  test("a month with an altered event stays, and so do later months; the job exits with 1 and names the event", async () => {
    const [altered, after] = ["2019-07", "2019-08"];
    const verdicts = [await agedLog("altered", altered), await agedLog("after", after)];
    const changeIp = (ip: string) =>
      tamper(`update audit.audit_events set ip = '${ip}'
        where organization_id = 'altered' and occurred_at < '${after}-01T00:00:00Z'`);
    await changeIp("::9");
    const { exitCode, stdout, stderr } = await runOstiary(asOwner(), "retention");
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/The intent of event \S+ is not what was sealed at position 1/);
    expect(await verdicts[1]?.()).toEqual({ result: "complete", events: 4, dropped: 0, declared: [] });
    await changeIp("::");
    // Two jobs run at once. Both may declare a month.
    expect(await runOstiary(asRole(), "retention")).toEqual(DENIED);
    const jobs = await Promise.all([1, 2].map(() => runOstiary(asOwner(), "retention")));
    expect(jobs).toMatchObject(Array(2).fill({ exitCode: 0, stderr: "" }));
    for (const [index, month] of [altered, after].entries()) {
      expect(await verdicts[index]?.()).toEqual({
        result: "complete",
        events: 2,
        dropped: 3,
        declared: [month],
      });
    }
  });

  // OP-72
  test("the owner's job keeps the months of AUDIT_RETENTION_MONTHS", async () => {
    const verdict = await agedLog("aged", monthsAgo(3), monthsAgo(2));
    expect((await runOstiary(asOwner(), "retention")).stdout).toContain(`Dropped ${monthsAgo(3)}: `);
    expect(await verdict()).toEqual({
      result: "complete",
      events: 4,
      dropped: 3,
      declared: [monthsAgo(3)],
    });
    expect(await runOstiary(asOwner(), "retention")).toEqual({
      exitCode: 0,
      stdout: `There is no month before ${monthsAgo(2)}.\n`,
      stderr: "",
    });
  });

  // AU-203
  test("the owner restarts the log of an organization whose rows cannot be restored", async () => {
    const organization_id = "restarted";
    await writeEvents(audit, 3, { organization_id });
    await exportProof(audit, logOf(organization_id));
    await tamper(
      `delete from audit.audit_events where organization_id = '${organization_id}' and outcome = 'pending'`,
    );
    const parameters = ["restart", "--owner", `organization:${organization_id}`];
    expect(await runOstiary(asOwner(), ...parameters)).toMatchObject({
      exitCode: 0,
      stdout: `The log of organization:${organization_id} continues after position 5. The positions 5 to 5 are given up; every later export says so.\n`,
    });
    const never = await runOstiary(asOwner(), "restart", "--owner", "user:nobody");
    expect([never.exitCode, never.stderr]).toEqual([78, expect.stringContaining("was never sealed")]);
  });

  // OP-72
  test.each([
    [["retention"], { AUDIT_RETENTION_MONTHS: "1201" }, 78, "AUDIT_RETENTION_MONTHS must be a whole number"],
    [
      ["retention"],
      { AUDIT_USAGE_RETENTION_MONTHS: "13" },
      78,
      "AUDIT_USAGE_RETENTION_MONTHS must be a whole number from 14 to 1200",
    ],
    [["retention"], { AUDIT_SIGNING_KEY_FILE: "" }, 78, "set AUDIT_SIGNING_KEY_FILE"],
    [["restart", "--owner", "organization:x", "--origin", "audit.example.com/log"], {}, 2, "error: "],
  ])("%p with %p ends with exit code %i, and drops nothing", async (parameters, changes, code, message) => {
    const partitions = () =>
      log.admin.unsafe(
        "select inhrelid from pg_inherits where inhparent = 'audit.audit_events'::regclass order by 1",
      );
    const before = await partitions();
    const { exitCode, stdout, stderr } = await runOstiary({ ...asOwner(), ...changes }, ...parameters);
    expect([exitCode, stdout, stderr.includes(message) ? message : stderr]).toEqual([code, "", message]);
    expect(await partitions()).toEqual(before);
  });
});

describe.skipIf(!services().postgres.binary)("ostiary audit migrate", () => {
  test("migrate says that a new role has no password, and grants an existing role its rights", async () => {
    const log = await newOwnedLog();
    expect(log.output).toBe(
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
