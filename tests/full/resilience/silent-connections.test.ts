import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { intent, requestId, startAudit } from "../../app/audit/audit-service.ts";
import { projected, service, startRegistry } from "../../app/registry/harness.ts";
import {
  freshDatabase,
  type Proxy as NetworkProxy,
  services,
  startProxy,
  waitFor,
} from "../../support/index.ts";

/** The maximum time after which a service whose connections to PostgreSQL are silent serves again. */
const BACK_MS = 15_000;

// OP-18
describe.skipIf(!services().postgres.real)("after silent connections to PostgreSQL", () => {
  const undo: (() => Promise<void>)[] = [];
  let proxy: NetworkProxy;

  beforeEach(async () => {
    proxy = await startProxy(await freshDatabase());
    undo.push(() => proxy.close());
  });
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step();
  });

  /** Checks that each call succeeded or failed as unavailable. */
  async function servedOrUnavailable(answers: Promise<{ status: number }>[]): Promise<void> {
    for (const { status } of await Promise.all(answers)) expect([200, 201, 204, 503]).toContain(status);
  }

  async function returns(calls: () => Promise<{ status: number }>[]): Promise<void> {
    await waitFor(async () => (await Promise.all(calls())).every(({ status }) => status < 300), {
      timeoutMs: BACK_MS,
      what: "the service",
    });
  }

  test("audit fails calls as unavailable, keeps every acknowledged intent, and serves again", async () => {
    const audit = await startAudit({ databaseUrl: proxy.url });
    undo.push(() => audit.stop());
    const known = requestId();
    await audit.put(known, intent());
    const log = "/organizations/organization-1/audit-events";
    await audit.get(log);
    proxy.stall();
    const ids = Array.from({ length: 20 }, requestId);
    const acknowledged = [known];
    const written = ids.map(async (id) => {
      const answer = await audit.put(id, intent());
      if (answer.status === 201) acknowledged.push(id);
      return answer;
    });
    const reject = () => audit.patch(known, { outcome: "rejected", status: 403 });
    await servedOrUnavailable([...written, reject(), audit.get(log), audit.get(log)]);
    await returns(() => [
      audit.put(requestId(), intent()),
      reject(),
      audit.get(log),
      fetch(`${audit.internalUrl}/health/ready`),
    ]);
    const { audit_events } = await audit.list(`${log}?limit=100`);
    const kept = new Set(audit_events.map(({ request_id }) => request_id));
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
  });

  test("the registry fails calls as unavailable, serves again and projects", async () => {
    const registry = await startRegistry({ databaseUrl: proxy.url });
    undo.push(() => registry.stop());
    expect((await registry.apply({ before: service("/before") })).status).toBe(200);
    proxy.stall();
    const calls = () => [
      registry.call("GET", "/services"),
      registry.call("GET", "/routes?method=GET&path=/before"),
      registry.apply({ after: service("/after") }),
    ];
    await servedOrUnavailable(calls());
    await returns(() => [...calls(), fetch(`${registry.internalUrl}/health/ready`)]);
    await waitFor(async () => "after" in (await projected(registry.routeStore)));
  });
});
