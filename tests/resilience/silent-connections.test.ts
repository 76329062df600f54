import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { intent, requestId, startAudit } from "../app/audit/audit-service.ts";
import { startIdentity } from "../app/identity/harness.ts";
import { projected, service, startRegistry } from "../app/registry/harness.ts";
import {
  freshDatabase,
  type Proxy as NetworkProxy,
  services,
  startProxy,
  waitFor,
} from "../support/index.ts";

/**
 * The maximum time in which a service must notice that its connections to PostgreSQL are silent. A service
 * that checks the server needs one or two seconds, and longer only on a busy machine. The statement timeout
 * alone needs more than ten seconds.
 */
const NOTICED_MS = 8_000;

// OP-18
describe.skipIf(!services().postgres.real).each(["stall", "forget"] as const)(
  "after silent connections to PostgreSQL (%s)",
  (ending) => {
    const undo: (() => Promise<void>)[] = [];
    let proxy: NetworkProxy;
    let silentSince = 0;

    beforeEach(async () => {
      proxy = await startProxy(await freshDatabase());
      undo.push(() => proxy.close());
    });
    afterEach(async () => {
      for (const step of undo.splice(0).reverse()) await step();
    });

    function silence(): void {
      silentSince = performance.now();
      proxy[ending]();
    }

    async function noticed(ready: () => Promise<number>): Promise<void> {
      await waitFor(async () => (await ready()) === 200, { what: "readiness" });
      expect(performance.now() - silentSince).toBeLessThan(NOTICED_MS);
    }

    const statuses = async (answers: Promise<{ status: number }>[]) =>
      (await Promise.all(answers)).map(({ status }) => status);

    test("identity responds to validations, reads and writes late but without errors", async () => {
      const identity = await startIdentity({ databaseUrl: proxy.url });
      undo.push(() => identity.close());
      const { id, owner, ownerMember } = await identity.organization();
      const { key } = (await identity.call("POST", `/members/${ownerMember}/api-keys`)).body;
      silence();
      const validations = Array.from({ length: 20 }, () =>
        identity.internal("POST", "/internal/credentials/validate", { credential: key }),
      );
      const calls = [
        ...Array.from({ length: 20 }, () => identity.call("GET", `/organizations/${id}/members`)),
        identity.call("PATCH", `/organizations/${id}`, { name: "Renamed" }),
        identity.call("PATCH", `/users/${owner}`, { display_name: "Ada" }),
        identity.internal("GET", "/internal/lifecycle-events"),
      ];
      expect(await statuses([...validations, ...calls])).toEqual(Array(43).fill(200));
      await noticed(async () => (await identity.internal("GET", "/health/ready")).status);
      expect((await identity.call("GET", `/organizations/${id}`)).body.name).toBe("Renamed");
    });

    test("audit writes intents and outcomes and reads without errors", async () => {
      const audit = await startAudit({ databaseUrl: proxy.url });
      undo.push(() => audit.stop());
      const known = requestId();
      await audit.put(known, intent());
      const log = "/organizations/organization-1/audit-events";
      await audit.get(log);
      silence();
      const ids = Array.from({ length: 20 }, requestId);
      const written = ids.map((id) => audit.put(id, intent()));
      const calls = [
        audit.patch(known, { outcome: "rejected", status: 403 }),
        audit.get(log),
        audit.get(log),
      ];
      expect(await statuses([...written, ...calls])).toEqual([...Array(20).fill(201), 204, 200, 200]);
      await noticed(async () => (await fetch(`${audit.internalUrl}/health/ready`)).status);
      const { audit_events } = await audit.list(`${log}?limit=100`);
      expect(audit_events.map(({ request_id }) => request_id).sort()).toEqual([known, ...ids].sort());
    });

    test("the registry reads, applies and projects without errors", async () => {
      const registry = await startRegistry({ databaseUrl: proxy.url });
      undo.push(() => registry.stop());
      expect((await registry.apply({ before: service("/before") })).status).toBe(200);
      silence();
      const calls = [
        registry.call("GET", "/services"),
        registry.call("GET", "/routes?method=GET&path=/before"),
        registry.apply({ after: service("/after") }),
      ];
      expect(await statuses(calls)).toEqual([200, 200, 200]);
      await noticed(async () => (await fetch(`${registry.internalUrl}/health/ready`)).status);
      await waitFor(async () => "after" in (await projected(registry.routeStore)));
      const { revisions } = (await registry.call("GET", "/services/after/revisions")).body;
      expect(revisions).toHaveLength(1);
    });
  },
);
