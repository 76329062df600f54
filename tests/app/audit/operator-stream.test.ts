import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { Webhook } from "standardwebhooks";
import { atTestEnd } from "../../support/at-test-end.ts";
import { freshDatabase, services, waitFor } from "../../support/index.ts";
import { metricOf } from "../../support/telemetry/metrics.ts";
import {
  type AuditService,
  type AuditServiceOptions,
  intent,
  openLog,
  requestId,
  userIntent,
} from "./audit-service.ts";
import {
  newSecret,
  OrganizationReceivers,
  operatorVariables,
  organizationOf,
  SET_UP,
} from "./operator-bed.ts";
import { exportProof, writeEvents } from "./proof-bed.ts";
import { gaugeClock, startReceiver, startStreamingAudit, type TestReceiver } from "./streams-bed.ts";

setDefaultTimeout(180_000);

const SOON = { timeoutMs: 120_000 };
const SECRET = newSecret();

function newReceiver(): TestReceiver {
  const receiver = startReceiver();
  atTestEnd(() => receiver.stop());
  return receiver;
}

async function startWith(receiver: TestReceiver, { env = {}, ...options }: AuditServiceOptions = {}) {
  const variables = { ...operatorVariables(receiver.url, SECRET), ...env };
  const audit = await startStreamingAudit([receiver.port], { ...options, env: variables });
  atTestEnd(() => audit.stop());
  return audit;
}

/** Waits until the receiver has the whole log of each organization. Returns the verified deliveries. */
async function complete(audit: AuditService, receiver: TestReceiver, organizations: readonly string[]) {
  const heads: { id: string; position: number; chain: string }[] = [];
  // The service limits concurrent exports, so request one export at a time.
  for (const id of organizations) {
    const { position, chain } = (await exportProof(audit, `/organizations/${id}/audit-events`)).end.head;
    heads.push({ id, position, chain });
  }
  await waitFor(() => {
    const bodies = OrganizationReceivers.bodiesOf(receiver);
    return heads.every(({ id, position }) =>
      bodies.some((body) =>
        partsOf(body, id).some(({ entries }) => (entries.at(-1)?.position ?? 0) >= position),
      ),
    );
  }, SOON);
  const got = OrganizationReceivers.of(receiver);
  for (const head of heads) {
    const { position, chain } = got.of(head.id);
    expect({ id: head.id, position, chain }).toEqual(head);
  }
  return got;
}

/** Writes events of {@link SET_UP} until the receiver gets a call. */
async function isSetUp(audit: AuditService, receiver: TestReceiver): Promise<void> {
  await waitFor(async () => {
    await audit.put(requestId(), intent({ organization_id: SET_UP }));
    return receiver.calls.length > 0;
  }, SOON);
}

describe("the operator's stream", () => {
  // AU-110
  test("delivers the entries of every organization once, each chain in its order, signed, and no person's log", async () => {
    const receiver = newReceiver();
    const audit = await startWith(receiver);
    await isSetUp(audit, receiver);
    const organizations = Array.from({ length: 5 }, (_, n) => organizationOf(n));
    for (const organization_id of organizations) await writeEvents(audit, 2, { organization_id });
    await audit.put(requestId(), userIntent());
    for (const organization_id of organizations) await writeEvents(audit, 1, { organization_id });
    const got = await complete(audit, receiver, organizations);
    expect(got.duplicates).toBe(0);
    for (const id of organizations) expect(got.of(id).entries).toHaveLength(4);
    for (const { body, headers } of receiver.calls) {
      new Webhook(SECRET).verify(body, headers);
      expect(JSON.parse(body)).toMatchObject({ type: "audit.entries", data: { stream_id: "operator" } });
      expect(body).not.toContain("user-1");
    }
  });

  // AU-111
  test("retries failed deliveries in the same order, and does not stop after a 410", async () => {
    const receiver = newReceiver();
    const audit = await startWith(receiver);
    await isSetUp(audit, receiver);
    const statuses = [410, 500];
    let calls = 0;
    receiver.answer = () =>
      new Response(null, { status: statuses[calls++] ?? 200, headers: { "Retry-After": "0" } });
    receiver.calls.length = 0;
    await writeEvents(audit, 6, { organization_id: "a" });
    await writeEvents(audit, 6, { organization_id: "b" });
    await waitFor(() => calls > statuses.length, SOON);
    receiver.calls.splice(0, statuses.length);
    const got = await complete(audit, receiver, ["a", "b"]);
    expect(got.duplicates).toBe(0);
    expect(got.of("a").entries.map(({ position }) => position)).toEqual(
      Array.from({ length: 11 }, (_, n) => n + 1),
    );
  });

  // AU-106, AU-110
  test("sends OCSF events that name their organizations", async () => {
    const receiver = newReceiver();
    const audit = await startWith(receiver, { env: { AUDIT_OPERATOR_STREAM_FORMAT: "ocsf" } });
    await isSetUp(audit, receiver);
    const ids = await writeEvents(audit, 3, { organization_id: "a" });
    ids.push(...(await writeEvents(audit, 3, { organization_id: "b" })));
    const events = () =>
      receiver.calls
        .flatMap(({ body }): OcsfEvent[] => JSON.parse(body))
        .filter(({ api }) => ids.includes(api.request.uid));
    await waitFor(() => new Set(events().map(({ api }) => api.request.uid)).size === ids.length, SOON);
    expect(new Set(events().map(({ metadata }) => metadata.tenant_uid))).toEqual(new Set(["a", "b"]));
    expect(new Set(events().map(({ class_uid }) => class_uid))).toEqual(new Set([6003]));
  });
});

interface OcsfEvent {
  class_uid: number;
  api: { request: { uid: string } };
  metadata: { tenant_uid: string };
}

describe.skipIf(!services().postgres.real)("the operator's stream of several replicas", () => {
  // AU-110
  test("is delivered by one replica at a time, and another replica continues when that one stops", async () => {
    const receiver = newReceiver();
    let [underway, most] = [0, 0];
    receiver.answer = async () => {
      underway += 1;
      most = Math.max(most, underway);
      await Bun.sleep(1);
      underway -= 1;
      return new Response(null);
    };
    const databaseUrl = await freshDatabase();
    const [first, second] = [
      await startWith(receiver, { databaseUrl }),
      await startWith(receiver, { databaseUrl }),
    ];
    await isSetUp(first, receiver);
    const organizations = Array.from({ length: 8 }, (_, n) => organizationOf(n));
    const write = (audit: AuditService) =>
      Promise.all(
        organizations.flatMap((organization_id) =>
          Array.from({ length: 20 }, () => audit.put(requestId(), intent({ organization_id }))),
        ),
      );
    await write(first);
    await complete(first, receiver, organizations);
    await first.stop();
    await write(second);
    const got = await complete(second, receiver, organizations);
    expect([most, got.duplicates]).toEqual([1, 0]);
  });

  // AU-110, AU-111
  test("begins with the oldest entries if configured so, in calls of at most 100 entries and 256 KiB", async () => {
    const databaseUrl = await freshDatabase();
    const receiver = newReceiver();
    const before = await startStreamingAudit([receiver.port], { databaseUrl });
    atTestEnd(() => before.stop());
    const organizations = Array.from({ length: 130 }, (_, n) => organizationOf(n));
    await Promise.all(
      organizations.map((organization_id) => before.put(requestId(), intent({ organization_id }))),
    );
    const params = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`p${n}`, "x".repeat(7_000)]));
    await writeEvents(before, 14, { organization_id: organizationOf(3), params });
    await writeEvents(before, 120, { organization_id: organizationOf(4) });
    const written = organizations.length + (2 * 14 - 1) + (2 * 120 - 1);
    const log = await openLog(before);
    atTestEnd(() => log.close());
    await waitFor(async () => {
      const [sealed] = await log.run("count", (orm) =>
        rows<{ count: number }>(orm, sql`select count(*)::integer as count from audit.entries`),
      );
      return sealed?.count === written;
    }, SOON);
    await startWith(receiver, { databaseUrl, env: { AUDIT_OPERATOR_STREAM_FROM: "start" } });
    // Count the received entries first, because verifying all calls is slow.
    const partsOfAll = () =>
      OrganizationReceivers.bodiesOf(receiver).flatMap(({ data }) => data.organizations);
    const received = () => partsOfAll().reduce((sum, { entries }) => sum + entries.length, 0);
    await waitFor(() => received() >= written, SOON);
    const got = OrganizationReceivers.of(receiver);
    const delivered = organizations.reduce((sum, id) => sum + got.of(id).entries.length, 0);
    expect([delivered, got.duplicates]).toEqual([written, 0]);
    const bodies = OrganizationReceivers.bodiesOf(receiver);
    expect(Math.max(...bodies.map(({ data }) => data.organizations.length))).toBeGreaterThan(1);
    for (const { body } of receiver.calls) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(262_144);
    for (const { data } of bodies) {
      const entries = data.organizations.reduce((sum, part) => sum + part.entries.length, 0);
      expect(entries).toBeLessThanOrEqual(100);
    }
  });

  // AU-110, AU-111
  test("skips older entries by default, and keeps its position when another replica starts", async () => {
    const databaseUrl = await freshDatabase();
    const receiver = newReceiver();
    const without = await startStreamingAudit([receiver.port], { databaseUrl });
    atTestEnd(() => without.stop());
    await writeEvents(without, 5, { organization_id: "a" });
    const { head } = (await exportProof(without, "/organizations/a/audit-events")).end;
    const audit = await startWith(receiver, { databaseUrl });
    await startWith(receiver, { databaseUrl });
    await isSetUp(audit, receiver);
    await writeEvents(audit, 3, { organization_id: "a" });
    await waitFor(
      () => OrganizationReceivers.bodiesOf(receiver).some((body) => partsOf(body, "a").length > 0),
      SOON,
    );
    await startWith(receiver, { databaseUrl });
    await writeEvents(audit, 3, { organization_id: "a" });
    const end = (await exportProof(audit, "/organizations/a/audit-events")).end.head;
    await waitFor(() => {
      const entries = OrganizationReceivers.bodiesOf(receiver)
        .flatMap((body) => partsOf(body, "a"))
        .flatMap((part) => part.entries);
      return entries.at(-1)?.position === end.position;
    }, SOON);
    const parts = OrganizationReceivers.bodiesOf(receiver).flatMap((body) => partsOf(body, "a"));
    expect(parts[0]?.after).toEqual({ position: head.position, chain: head.chain });
  });

  // AU-111
  test("delivers other organizations when the next entry of one is missing", async () => {
    const receiver = newReceiver();
    const audit = await startWith(receiver);
    await isSetUp(audit, receiver);
    receiver.calls.length = 0;
    receiver.answer = () => new Response(null, { status: 503, headers: { "Retry-After": "3600" } });
    await writeEvents(audit, 4, { organization_id: "cut" });
    await waitFor(() => receiver.calls.length > 0, SOON);
    await exportProof(audit, "/organizations/cut/audit-events");
    const log = await openLog(audit);
    atTestEnd(() => log.close());
    await log.transaction("tamper", async (tx) => {
      await rows(tx, sql`alter table audit.entries disable trigger no_change`);
      await rows(
        tx,
        sql`delete from audit.entries where position = 3
          and chain_id = (select id from audit.chains where owner = 'organization:cut')`,
      );
      await rows(tx, sql`alter table audit.entries enable trigger no_change`);
    });
    receiver.calls.length = 0;
    receiver.answer = () => new Response(null);
    await waitFor(async () => {
      await log.run("end_pause", (orm) =>
        rows(orm, sql`update audit.operator_stream set next_attempt_at = now()`),
      );
      return receiver.calls.length > 0;
    }, SOON);
    await writeEvents(audit, 3, { organization_id: "whole" });
    await complete(audit, receiver, ["whole"]);
    const got = OrganizationReceivers.of(receiver);
    expect(got.of("cut").entries.map(({ position }) => position)).toEqual([1, 2]);
  });

  // AU-113
  test("has metrics for its lag and for failed deliveries", async () => {
    const receiver = newReceiver();
    const audit = await startWith(receiver, { clock: gaugeClock });
    await isSetUp(audit, receiver);
    const gauge = (name: string) => metricOf(audit, name);
    await waitFor(async () => (await gauge("audit_operator_stream_lag_seconds")) === 0, SOON);
    receiver.answer = () => new Response(null, { status: 500, headers: { "Retry-After": "3600" } });
    await writeEvents(audit, 2, { organization_id: "a" });
    await waitFor(async () => (await gauge("audit_operator_stream_lag_seconds")) > 0, SOON);
    await waitFor(async () => (await gauge("audit_operator_stream_failures")) === 1, SOON);
  });
});

function partsOf(body: ReturnType<typeof OrganizationReceivers.bodiesOf>[number], id: string) {
  return body.data.organizations.filter(({ organization_id }) => organization_id === id);
}
