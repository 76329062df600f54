/** Tests of a gateway's audit events while the audit service or the gateway fails (GW-138 to GW-148). */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { type AuditService, startAudit } from "../../../app/audit/audit-service.ts";
import { type LocalGateway, startLocalGateway } from "../../../support/gateway/gateway.ts";
import { type IdentityStandIn, member, startIdentity } from "../../../support/gateway/identity-stand-in.ts";
import { startProxy } from "../../../support/http/proxy.ts";
import { waitFor } from "../../../support/index.ts";

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
});
