import { describe, expect, test } from "bun:test";
import { auditVariables } from "@ostiary/audit/config";
import { type PassDeps, sealPass } from "@ostiary/audit/sealing/seal-pass";
import { SealedState } from "@ostiary/audit/sealing/sealed-state";
import { selectState } from "@ostiary/audit/sealing/sealer-state-sql";
import { systemClock } from "@ostiary/lib/async";
import { loadConfig } from "@ostiary/lib/runtime/config";
import { type Database, rows } from "@ostiary/lib/runtime/stores/database";
import { createTelemetry } from "@ostiary/lib/runtime/telemetry";
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
import { exportProof, keysOf, startProvenAudit, verify, writeEvents, writeSigningKey } from "./proof-bed.ts";

const silent = async () => {
  const env = { DATABASE_URL: "pglite://memory", LOG_FILE: "/dev/null" };
  return (await createTelemetry({ name: "audit", namespace: "audit" }, loadConfig(auditVariables, env))).log;
};

/** Writes an event and calls `written`, in a transaction that stays open until `held` resolves. */
function writeHeld(log: Database, id: string, held: Promise<void>, written: () => void): Promise<void> {
  return log.transaction("held", async (tx) => {
    await rows(
      tx,
      sql`with made as (
        insert into audit.audit_events (id, request_id, occurred_at, organization_id, actor_auth_type, service, method,
          route, params, ip)
        values (${id}, ${id}, now(), 'organization-1', 'jwt', 's', 'GET', '/', '{}', '::') returning id, occurred_at)
      insert into audit.request_ids (id, request_id, occurred_at) select id, id, occurred_at from made`,
    );
    written();
    await held;
  });
}

describe.skipIf(!services().postgres.real)("the sealer", () => {
  // AU-54
  test("gives an event that commits late a position after sealed ones, and waits for no transaction", async () => {
    await using audit = await startProvenAudit();
    await using log = await openLog(audit);
    await writeEvents(audit, 2);
    const [late, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // This id sorts before those of the next events, so the ids and the positions have different orders.
    const id = `${(await exportProof(audit)).events[0]?.id.slice(0, 10)}${"Z".repeat(16)}`;
    const holding = writeHeld(log, id, late.promise, written.resolve);
    await written.promise;
    await writeEvents(audit, 2);
    const before = await exportProof(audit);
    expect(before.events).toHaveLength(4);
    late.resolve();
    await holding;
    const after = await exportProof(audit);
    expect(after.events.find((event) => event.id === id)?.proof.intent?.position).toBe(
      before.end.head.position + 1,
    );
    const verdict = await verify(after.text, await keysOf(audit), { checkpoints: [], end: before.end });
    expect(verdict).toMatchObject({ complete: true, events: 5 });
  });

  // AU-53
  test("gives events positions in the order of their commits, whichever replica writes them", async () => {
    const databaseUrl = await freshDatabase();
    const env = { AUDIT_SIGNING_KEY_FILE: writeSigningKey(), SEAL_INTERVAL_MS: "50" };
    const replicas = await Promise.all([0, 1, 2].map(() => startProvenAudit({ databaseUrl, env })));
    const replica = (n: number): AuditService => replicas[n % replicas.length] ?? replicas[0] ?? raise();
    try {
      const ids: string[] = [];
      for (let n = 0; n < 60; n++) {
        ids.push(requestId());
        await replica(n).put(ids[n] ?? "", intent());
        if (n > 0) await replica(n + 1).patch(ids[n - 1] ?? "", { outcome: "rejected", status: 403 });
      }
      const { events, text } = await exportProof(replica(0));
      const written = ids.flatMap((id, n) => [`${id} intent`, ...(n > 0 ? [`${ids[n - 1]} outcome`] : [])]);
      const places = events.flatMap(({ request_id, proof }) => [
        { at: proof.intent?.position ?? 0, what: `${request_id} intent` },
        ...(proof.outcome === null ? [] : [{ at: proof.outcome.position, what: `${request_id} outcome` }]),
      ]);
      expect(places.toSorted((a, b) => a.at - b.at).map(({ what }) => what)).toEqual(written);
      expect(await verify(text, await keysOf(replica(1)))).toMatchObject({ complete: true, events: 60 });
    } finally {
      await Promise.all(replicas.map((service) => service.stop()));
    }
  });

  // AU-53
  test("leaves no gap and no duplicate when two replicas write and seal at once", async () => {
    const databaseUrl = await freshDatabase();
    const env = { AUDIT_SIGNING_KEY_FILE: writeSigningKey(), SEAL_INTERVAL_MS: "50" };
    const replicas = await Promise.all([0, 1].map(() => startProvenAudit({ databaseUrl, env })));
    try {
      await Promise.all(
        Array.from({ length: 400 }, async (_, n) => {
          const service = replicas[n % 2] ?? raise();
          const id = requestId();
          await service.put(id, n % 4 === 0 ? userIntent() : intent());
          if (n % 10 === 0) return;
          const named = n % 8 === 0 ? { organization_id: "organization-1", member_id: "member-2" } : {};
          await (replicas[(n + 1) % 2] ?? raise()).patch(id, { outcome: "responded", status: 200, ...named });
        }),
      );
      const [first = raise(), second = raise()] = replicas;
      const keys = await keysOf(first);
      const organization = await exportProof(first);
      expect(await verify(organization.text, keys)).toMatchObject({ complete: true, events: 340 });
      const person = await exportProof(second, "/users/user-1/audit-events");
      expect(await verify(person.text, keys)).toMatchObject({ complete: true, events: 100 });
    } finally {
      await Promise.all(replicas.map((service) => service.stop()));
    }
  });

  // AU-55
  test("seals once when five sealers start from the same state, and the others do nothing", async () => {
    // The service waits a minute between its own passes, so that it does not seal during this test.
    await using audit = await startProvenAudit({ env: { SEAL_INTERVAL_MS: "60000" } });
    await using log = await openLog(audit);
    await writeEvents(audit, 5);
    const state = await selectState(log);
    const quiet = await silent();
    const deps = (): PassDeps => ({
      reads: log,
      writes: log,
      key: null,
      origin: "log.example/a",
      sealed: new SealedState(log),
      clock: systemClock,
      log: quiet,
      holder: "a test",
    });
    const results = await Promise.all(Array.from({ length: 5 }, () => sealPass(deps(), state)));
    expect(results.map(({ end }) => end).toSorted()).toEqual(["done", "lost", "lost", "lost", "lost"]);
    const [{ entries, places } = raise()] = await sqlOn(log)<{ entries: number; places: number }>`
      select count(*) as entries, max(position) as places from audit.entries`;
    expect([entries, places]).toEqual([9, 9]);
  });

  // AU-176
  test("continues at once after the sealing replica dies and the database clock is set back an hour", async () => {
    await using audit = await startProvenAudit();
    await using log = await openLog(audit);
    await writeEvents(audit, 3);
    await exportProof(audit);
    await sqlOn(log)`
      update audit.sealer set holder = 'dead', passed_at = clock_timestamp() + interval '1 hour'`;
    await writeEvents(audit, 3);
    const { text, end } = await waitFor(() => exportProof(audit));
    expect(end.head.position).toBe(10);
    expect(await verify(text, await keysOf(audit))).toMatchObject({ complete: true, events: 6 });
  });

  test.each([
    ["a log that is signed", startProvenAudit],
    ["a log without a key", () => startAudit({ env: { SEAL_INTERVAL_MS: "100" } })],
  ])(
    "continues in a database that was restored to a server with lower transaction ids: %s",
    async (_, start) => {
      await using audit = await start();
      await using log = await openLog(audit);
      await writeEvents(audit, 3);
      const before = await exportProof(audit);
      await sqlOn(log)`update audit.sealer set sealed_to = '4000000000:4000000000:'`;
      await writeEvents(audit, 3);
      const complete = async () => {
        const { text } = await exportProof(audit);
        const keys = await keysOf(audit);
        return verify(text, keys.length === 0 ? null : keys, { checkpoints: [], end: before.end });
      };
      let verdict = await complete();
      while (verdict.events < 6) verdict = await complete();
      expect(verdict).toMatchObject({ complete: true, events: 6 });
    },
  );
});

test("the sealer works in an embedded database too", async () => {
  await using audit = await startProvenAudit({ databaseUrl: "pglite://memory" });
  await writeEvents(audit, 3);
  const { text } = await exportProof(audit);
  expect(await verify(text, await keysOf(audit))).toMatchObject({ complete: true, events: 3, pending: 1 });
});

function raise(): never {
  throw new Error("The list is empty.");
}
