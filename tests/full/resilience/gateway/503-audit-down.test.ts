/** Tests of a gateway's audit events while the audit service or the gateway fails (GW-138 to GW-148). */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { type AuditService, startAudit } from "../../../app/audit/audit-service.ts";
import { type LocalGateway, startLocalGateway } from "../../../support/gateway/gateway.ts";
import { startGateways } from "../../../support/gateway/gateway-process.ts";
import { type IdentityStandIn, member, startIdentity } from "../../../support/gateway/identity-stand-in.ts";
import { startProxy } from "../../../support/http/proxy.ts";
import { freshCounterStoreUrl, services, waitFor } from "../../../support/index.ts";

const START_TIMEOUT_MS = 60_000;
const LOG = "/organizations/o1/audit-events";
const KEY = `acme-k-2-${"x".repeat(43)}`;

let audit: AuditService;
/** The proxy between the gateway and the audit service. */
let wire: Awaited<ReturnType<typeof startProxy>>;
let identity: IdentityStandIn;
let answer: (request: Request) => Response | Promise<Response>;
let called = 0;
const upstream = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  fetch(request) {
    called += 1;
    return answer(request);
  },
});

const widgets = (): Record<string, StoredServiceConfig> => ({
  widgets: {
    url: `http://127.0.0.1:${upstream.port}`,
    member: {
      routes: [
        { path: "/widgets", methods: ["GET", "POST"] },
        { path: "/widgets/locked", methods: ["POST"], required_labels: ["never"] },
      ],
    },
  },
});

beforeAll(async () => {
  audit = await startAudit();
  wire = await startProxy(audit.internalUrl);
  identity = startIdentity();
  identity.results.set(KEY, member({ labels: [] }));
}, START_TIMEOUT_MS);
afterAll(() => Promise.all([wire.close(), audit.stop(), identity.stop(), upstream.stop(true)]));

const env = () => ({
  CREDENTIAL_VALIDATE_URL: identity.url,
  AUDIT_ENABLED: "true",
  AUDIT_URL: wire.url,
});
const created = () => new Response(null, { status: 201, headers: { "x-platform-audit-created": "w1" } });
const send = (gateway: { url: string }, path = "/widgets", method = "POST") =>
  fetch(`${gateway.url}${path}`, { method, headers: { "x-api-key": KEY } });
const requestIdOf = (response: Response) => response.headers.get("x-request-id") ?? "";
const eventOf = async (request_id: string) =>
  (await audit.list(`${LOG}?request_id=${request_id}`)).audit_events[0];
const finalEventOf = (request_id: string) =>
  waitFor(
    async () => {
      const event = await eventOf(request_id);
      return event?.outcome === "pending" ? null : event;
    },
    { what: `the outcome of ${request_id}` },
  );

describe("an audited request", () => {
  let gateway: LocalGateway;
  const open = async () => {
    answer = created;
    gateway = await startLocalGateway(env());
    await gateway.publish(widgets());
  };
  afterEach(() => {
    wire.heal();
    return gateway.close();
  });

  // GW-2, GW-139
  test("does not reach its service while audit is down; other requests are served", async () => {
    await open();
    expect((await send(gateway)).status).toBe(201);
    wire.cut();
    const before = called;
    const refused = await Promise.all(Array.from({ length: 20 }, () => send(gateway)));
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
    expect(await refused[0]?.json()).toMatchObject({
      error: { type: "api_error", code: "SERVICE_UNAVAILABLE" },
    });
    expect(called).toBe(before);
    expect((await send(gateway, "/widgets", "GET")).status).toBe(201);
    expect(called).toBe(before + 1);
    wire.heal();
    expect((await send(gateway)).status).toBe(201);
  });

  // GW-2, GW-140
  test("has the outcome `responded` if and only if it reached its service, while audit goes up and down", async () => {
    await open();
    let flapping = true;
    const flaps = (async () => {
      for (let flap = 0; flapping; flap++) {
        if (flap % 2 === 0) wire.cut();
        else wire.heal();
        await Bun.sleep(15);
      }
      wire.heal();
    })();
    const before = called;
    const responses = await Promise.all(Array.from({ length: 100 }, () => send(gateway)));
    flapping = false;
    await flaps;
    const forwarded = responses.filter(({ status }) => status === 201);
    const refused = responses.filter(({ status }) => status === 503);
    expect(forwarded.length + refused.length).toBe(100);
    expect(called - before).toBe(forwarded.length);
    for (const response of forwarded) {
      expect(await finalEventOf(requestIdOf(response))).toMatchObject({ outcome: "responded", status: 201 });
    }
    await gateway.close();
    for (const response of refused) {
      const event = await eventOf(requestIdOf(response));
      if (event !== undefined) expect(event.outcome).toBeOneOf(["rejected", "pending"]);
    }
    await open();
  });

  // GW-145
  test("gets its outcome later when audit is down between intent and outcome", async () => {
    await open();
    answer = () => {
      wire.cut();
      return created();
    };
    const response = await send(gateway);
    expect(response.status).toBe(201);
    await gateway.logOf(requestIdOf(response));
    expect(await eventOf(requestIdOf(response))).toMatchObject({ outcome: "pending", status: null });
    wire.heal();
    expect(await finalEventOf(requestIdOf(response))).toMatchObject({ outcome: "responded", status: 201 });
  });

  // GW-148
  test("keeps the outcome `pending` when the gateway stops while audit is down", async () => {
    await open();
    answer = () => {
      wire.cut();
      return created();
    };
    const response = await send(gateway);
    await gateway.close();
    // The proxy closes connections in order, so it has closed the gateway's connections before this one.
    await expect(fetch(wire.url)).rejects.toThrow();
    wire.heal();
    expect(await eventOf(requestIdOf(response))).toMatchObject({ outcome: "pending" });
    await open();
  });
});

describe.skipIf(!services().etcd.own || !services().redis.real)("a gateway that is killed", () => {
  // AU-3
  test(
    "before the response of a service leaves the event pending for good, and the next gateway works",
    async () => {
      const counters = { COUNTER_STORE_URL: await freshCounterStoreUrl() };
      const start = () => startGateways({ services: widgets(), env: { ...env(), ...counters } });
      const forwarded = Promise.withResolvers<string>();
      const never = Promise.withResolvers<Response>();
      answer = (request) => {
        forwarded.resolve(request.headers.get("x-request-id") ?? "");
        return never.promise;
      };
      const [first] = await start();
      const broken = first && send(first).catch(() => "broken");
      const request_id = await forwarded.promise;
      expect(await eventOf(request_id)).toMatchObject({ outcome: "pending" });
      await first?.kill();
      expect(await broken).toBe("broken");
      never.resolve(new Response());

      answer = created;
      const [second] = await start();
      if (second === undefined) throw new Error("No gateway was started.");
      const response = await send(second);
      expect(await finalEventOf(requestIdOf(response))).toMatchObject({ outcome: "responded" });
      expect(await second.stop()).toBe(0);
      expect(await eventOf(request_id)).toMatchObject({ outcome: "pending", status: null });
    },
    START_TIMEOUT_MS,
  );
});
