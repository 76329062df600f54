import { describe, expect, test } from "bun:test";
import { rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { Webhook } from "standardwebhooks";
import { type AuditService, intent, openLog, requestId, userIntent } from "../../../app/audit/bed.ts";
import {
  complete,
  deliveriesTo,
  isSetUp,
  newReceiver,
  partsOf,
  provenOf,
  SECRET,
  startWith,
} from "../../../app/audit/operator-bed.ts";
import { exportProof, writeEvents } from "../../../app/audit/proof-bed.ts";
import { startStreamingAudit } from "../../../app/audit/streams-bed.ts";
import { atTestEnd } from "../../../support/at-test-end.ts";
import { freshDatabase, services, waitFor } from "../../../support/index.ts";

describe.skipIf(!services().postgres.real)("the operator's stream of several replicas", () => {
  // AU-105, AU-110
  test("is delivered by one replica at a time, and another replica continues when that one stops", async () => {
    const receiver = newReceiver();
    let [underway, most] = [0, 0];
    receiver.respond = async () => {
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
    const organizations = Array.from({ length: 8 }, (_, n) => `organization-${n}`);
    const write = (audit: AuditService) =>
      Promise.all(
        organizations.flatMap((organization_id) =>
          Array.from({ length: 20 }, () => audit.put(requestId(), intent({ organization_id }))),
        ),
      );
    await write(first);
    await complete(first, receiver, organizations);
    await first.stop();
    await second.put(requestId(), userIntent());
    await write(second);
    await complete(second, receiver, organizations);
    expect(most).toBe(1);
    for (const { body, headers } of receiver.calls) {
      new Webhook(SECRET).verify(body, headers);
      expect(JSON.parse(body)).toMatchObject({ type: "audit.entries", data: { stream_id: "operator" } });
      expect(body).not.toContain("user-1");
    }
  });

  // AU-104, AU-111
  test("calls a new URL, although a replica with the old URL learns that it should pause for a day", async () => {
    const [old, next] = [newReceiver(), newReceiver()];
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    old.respond = async () => {
      reached.resolve();
      await released.promise;
      return new Response(null, { status: 503, headers: { "Retry-After": "86400" } });
    };
    const databaseUrl = await freshDatabase();
    const env = { AUDIT_OPERATOR_STREAM_FROM: "start" };
    const first = await startWith(old, { databaseUrl, env });
    await first.put(requestId(), intent());
    await reached.promise;
    const second = await startWith(next, { databaseUrl, env });
    const log = await openLog(second);
    atTestEnd(() => log.close());
    const url = () =>
      log.run("url", (orm) => rows<{ url: string }>(orm, sql`select url from audit.operator_stream`));
    await waitFor(async () => (await url()).at(0)?.url === next.url, { what: "the new URL" });
    released.resolve();
    await complete(second, next, ["organization-1"]);
  });

  // AU-110, AU-111
  test("begins with the oldest entries if configured so, in calls of at most 100 entries", async () => {
    const databaseUrl = await freshDatabase();
    const receiver = newReceiver();
    const before = await startStreamingAudit([receiver.port], { databaseUrl });
    atTestEnd(() => before.stop());
    const organizations = Array.from({ length: 130 }, (_, n) => `organization-${n}`);
    await Promise.all(
      organizations.map((organization_id) => before.put(requestId(), intent({ organization_id }))),
    );
    await writeEvents(before, 120, { organization_id: "organization-4" });
    const written = organizations.length + (2 * 120 - 1);
    const log = await openLog(before);
    atTestEnd(() => log.close());
    await waitFor(async () => {
      const [sealed] = await log.run("count", (orm) =>
        rows<{ count: number }>(orm, sql`select count(*)::integer as count from audit.entries`),
      );
      return sealed?.count === written;
    });
    await startWith(receiver, { databaseUrl, env: { AUDIT_OPERATOR_STREAM_FROM: "start" } });
    const counts = () =>
      deliveriesTo(receiver).map((parts) => parts.reduce((sum, { entries }) => sum + entries.length, 0));
    // Count the received entries first, because verifying all calls is slow.
    await waitFor(() => counts().reduce((sum, count) => sum + count, 0) >= written);
    const delivered = organizations.map((id) => provenOf(receiver, id));
    expect(delivered.reduce((sum, { entries }) => sum + entries.length, 0)).toBe(written);
    expect(delivered.reduce((sum, { duplicates }) => sum + duplicates, 0)).toBe(0);
    expect(Math.max(...deliveriesTo(receiver).map((parts) => parts.length))).toBeGreaterThan(1);
    expect(Math.max(...counts())).toBeLessThanOrEqual(100);
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
    await waitFor(() => partsOf(receiver, "a").length > 0);
    await startWith(receiver, { databaseUrl });
    await writeEvents(audit, 3, { organization_id: "a" });
    const end = (await exportProof(audit, "/organizations/a/audit-events")).end.head;
    const parts = () => partsOf(receiver, "a");
    await waitFor(() => parts().at(-1)?.entries.at(-1)?.position === end.position);
    expect(parts()[0]?.after).toEqual({ position: head.position, chain: head.chain });
  });

  // AU-111
  test("delivers other organizations when the next entry of one is missing", async () => {
    const receiver = newReceiver();
    const audit = await startWith(receiver);
    await isSetUp(audit, receiver);
    receiver.calls.length = 0;
    receiver.respond = () => new Response(null, { status: 503, headers: { "Retry-After": "3600" } });
    await writeEvents(audit, 4, { organization_id: "cut" });
    await waitFor(() => receiver.calls.length > 0);
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
    receiver.respond = () => new Response(null);
    await waitFor(async () => {
      await log.run("end_pause", (orm) =>
        rows(orm, sql`update audit.operator_stream set next_attempt_at = now()`),
      );
      return receiver.calls.length > 0;
    });
    await writeEvents(audit, 3, { organization_id: "whole" });
    await complete(audit, receiver, ["whole"]);
    expect(provenOf(receiver, "cut").entries.map(({ position }) => position)).toEqual([1, 2]);
  });
});
