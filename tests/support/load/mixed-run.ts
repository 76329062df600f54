import { admitted } from "../gateway/admitted.ts";
import { type Stack, startStack } from "../processes/stack.ts";
import type { RunningProcess } from "../processes/start-process.ts";
import { type Collector, startCollector } from "../telemetry/collector.ts";
import { waitFor } from "../time/wait-for.ts";

export const SERVICES = ["gateway", "registry", "identity", "audit", "portal"] as const;
export type ServiceName = (typeof SERVICES)[number];

interface GatewayResponse {
  readonly request_id: string;
  readonly status: number;
  readonly expected: number;
  readonly body: string;
}

/**
 * A run of the services and the portal with a collector of telemetry. Clients send every kind of request:
 * with each kind of credential, refused at each step, streamed, canceled by the client and failed by a
 * service.
 */
export interface MixedRun {
  readonly stack: Stack;
  readonly collector: Collector;
  /** The responses, each by the name that the run gives to its request. */
  readonly responses: ReadonlyMap<string, GatewayResponse>;
  readonly organization_id: string;
  readonly memberKey: string;
  readonly session: string;
  /**
   * The API keys, session tokens and JWTs of the run. No log line, metric or span may contain one of them.
   */
  readonly secrets: readonly string[];
  scrape(service: ServiceName, accept?: string): Promise<string>;
  /** Sends the requests to the gateway and the registry again. */
  again(): Promise<void>;
  /** Stops all processes. Afterward, all log lines are written and all spans are exported. */
  stop(): Promise<void>;
}

const REFUSED_KEY = `ostiary-k-2-${"R".repeat(43)}`;
const LIMIT_REQUESTS = 5;

export async function startMixedRun(everyEnv: Record<string, string> = {}): Promise<MixedRun> {
  const collector = startCollector();
  const services = startServices();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, ...everyEnv };
  const limits = { RATE_LIMIT_REQUESTS: "1000", RATE_LIMIT_AUTH_FAILURE_REQUESTS: "1000" };
  const stack = await startStack(limits, env);
  await waitFor(async () => (await fetch(`${stack.gateway.internalUrl}/health/ready`)).ok);
  const caller = new Caller(stack);
  await publishServices(stack, services.url);
  const founded = await found(caller, stack);
  await askEverything(caller, founded);
  await leave(stack, services);
  await askRegistry(stack);
  for (const service of SERVICES) {
    for (const path of ["/health/live", "/health/ready", "/metrics"]) {
      await fetch(stack[service].internalUrl + path);
    }
  }
  const { organization_id, memberKey, session, viewer, tokens } = founded;
  let stopped = false;
  return {
    stack,
    collector,
    responses: caller.responses,
    organization_id,
    memberKey,
    session,
    secrets: [memberKey, session, viewer, REFUSED_KEY, ...tokens],
    async scrape(service, accept = "text/plain") {
      const response = await fetch(`${stack[service].internalUrl}/metrics`, { headers: { accept } });
      return response.text();
    },
    async again() {
      await publishServices(stack, services.url);
      await askEverything(caller, founded);
      await leave(stack, services);
      const unknown = `ostiary-k-2-${crypto.randomUUID().replaceAll("-", "").padEnd(43, "x")}`;
      await caller.ask("unknown key", 401, "GET", "/demo/things/42", { key: unknown });
      await askRegistry(stack);
    },
    async stop() {
      if (stopped) return;
      stopped = true;
      await stack.close();
      await services.stop();
      await collector.stop();
    },
  };
}

interface HangingServices {
  readonly url: string;
  /** Returns the number of requests so far that never get a response. */
  hanging(): number;
  stop(): Promise<void>;
}

/** Starts a service that never responds at `/hangs` and responds with 503 elsewhere. */
function startServices(): HangingServices {
  let hanging = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch({ url }) {
      if (new URL(url).pathname !== "/hangs") return new Response("busy", { status: 503 });
      hanging += 1;
      return new Promise<Response>(() => {});
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    hanging: () => hanging,
    stop: () => server.stop(true),
  };
}

async function publishServices(stack: Stack, url: string): Promise<void> {
  const document = {
    services: {
      dead: { url: "http://127.0.0.1:9", public: { routes: [{ path: "/dead", methods: ["GET"] }] } },
      failing: {
        url,
        public: {
          routes: [
            { path: "/failing", methods: ["GET"] },
            { path: "/hangs", methods: ["GET"] },
          ],
        },
      },
    },
  };
  const response = await fetch(`${stack.registry.url}/apply`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${stack.adminToken}`,
      "content-type": "application/json",
    },
    body: JSON.stringify(document),
  });
  if (!response.ok) throw new Error(await response.text());
  await waitFor(async () => (await fetch(`${stack.gateway.url}/dead`)).status === 502);
  await waitFor(async () => (await fetch(`${stack.gateway.url}/portal`)).ok);
}

interface Call {
  readonly key?: string;
  readonly jwt?: string;
  readonly body?: object;
  readonly headers?: Record<string, string>;
}

class Caller {
  readonly responses = new Map<string, GatewayResponse>();
  readonly url: string;

  constructor({ gateway }: Stack) {
    this.url = gateway.url;
  }

  async ask(
    name: string,
    expected: number,
    method: string,
    path: string,
    call: Call = {},
  ): Promise<GatewayResponse> {
    const headers = {
      ...(call.key !== undefined && { "x-api-key": call.key }),
      ...(call.jwt !== undefined && { authorization: `Bearer ${call.jwt}` }),
      ...(call.body !== undefined && { "content-type": "application/json" }),
      ...call.headers,
    };
    const send = () =>
      fetch(this.url + path, { method, headers, body: call.body && JSON.stringify(call.body) });
    const response = await (expected === 503 ? send() : admitted(send));
    const request_id = response.headers.get("x-request-id") ?? "";
    const received = { request_id, status: response.status, expected, body: await response.text() };
    this.responses.set(name, received);
    return received;
  }
}

interface Founded {
  readonly organization_id: string;
  readonly memberKey: string;
  readonly session: string;
  /** The session token of a member with the role `viewer`. */
  readonly viewer: string;
  readonly jwt: string;
  readonly tokens: readonly string[];
}

/** Creates two users, an organization, and credentials of each kind. */
async function found(caller: Caller, stack: Stack): Promise<Founded> {
  const token = async (subject: string) =>
    (await fetch(`${stack.identityProviderUrl}/token?subject=${subject}`)).text();
  const [jwt, other] = [await token("alice"), await token("bob")];
  const made = await caller.ask("found", 201, "POST", "/user/organizations", { jwt, body: { name: "Acme" } });
  const organization_id = textAt(made.body, "id");
  const into = `/user/organizations/${organization_id}/session`;
  const session = textAt((await caller.ask("session", 201, "POST", into, { jwt })).body, "token");
  const memberKey = textAt(
    (await caller.ask("member key", 201, "POST", "/member/api-keys", { key: session, body: { name: "ci" } }))
      .body,
    "key",
  );
  const idp = { issuer: stack.identityProviderUrl, subject: "bob" };
  await caller.ask("invite", 201, "POST", "/org/members", { key: session, body: { idp, role: "viewer" } });
  const viewer = textAt((await caller.ask("viewer", 201, "POST", into, { jwt: other })).body, "token");
  return { organization_id, memberKey, session, viewer, jwt, tokens: [jwt, other] };
}

function textAt(body: string, field: string): string {
  const value: unknown = JSON.parse(body)[field];
  if (typeof value !== "string") throw new Error(`No ${field} in ${body}`);
  return value;
}

async function askEverything(caller: Caller, { memberKey, session, viewer, jwt }: Founded): Promise<void> {
  await caller.ask("public", 200, "GET", "/demo/hello?secret=s3cr3t-query");
  await caller.ask("portal", 200, "GET", "/portal?secret=s3cr3t-query");
  await caller.ask("person", 200, "GET", "/demo/me/notes/7", { jwt });
  await caller.ask("write", 200, "PUT", "/demo/things/42", { key: memberKey, body: { color: "red" } });
  await caller.ask("read", 200, "GET", "/demo/things/42", { key: memberKey });
  await caller.ask("stream", 200, "GET", "/demo/events", { key: session });
  await caller.ask("log", 200, "GET", "/org/audit-events", { key: session });
  await caller.ask("preflight", 204, "OPTIONS", "/demo/hello", { headers: { origin: "https://a.example" } });
  await caller.ask("400", 400, "GET", "/demo/things/%2e%2e%2fx", { key: session });
  await caller.ask("401", 401, "GET", "/demo/things/42");
  await caller.ask("401 key", 401, "GET", "/demo/things/42", { key: REFUSED_KEY });
  await caller.ask("403", 403, "PUT", "/demo/things/42", { key: viewer, body: {} });
  await caller.ask("404", 404, "GET", "/nowhere/4711");
  await caller.ask("404 of a service", 404, "GET", "/org/members/01JAAAAAAAAAAAAAAAAAAAAAAA", {
    key: session,
  });
  await caller.ask("422 of a service", 422, "POST", "/org/members", { key: session, body: { role: 7 } });
  for (let count = 0; count < LIMIT_REQUESTS; count += 1) {
    await caller.ask("429", 429, "GET", "/demo/burst", { key: session });
  }
  await caller.ask("502", 502, "GET", "/dead");
  await caller.ask("503 of a service", 503, "GET", "/failing");
}

/**
 * Sends a request and closes the connection before the response, once the request has reached its service.
 * Resolves once the gateway has logged the end of the request.
 */
async function leave({ gateway }: Stack, services: HangingServices): Promise<void> {
  const left = () => accessLines(gateway).filter(({ status }) => status === 499).length;
  const [before, leftBefore] = [services.hanging(), left()];
  const client = new AbortController();
  const asked = fetch(`${gateway.url}/hangs`, { signal: client.signal }).catch(() => {});
  await waitFor(() => services.hanging() > before, { what: "the request at its service" });
  client.abort();
  await asked;
  await waitFor(() => left() > leftBefore, { what: "the log line of the request that the client left" });
}

async function askRegistry({ registry, adminToken }: Stack): Promise<void> {
  const headers = { authorization: `Bearer ${adminToken}` };
  await fetch(`${registry.url}/services`, { headers });
  await fetch(`${registry.url}/services`);
  await fetch(`${registry.url}/services/unknown`, { headers });
  await fetch(`${registry.url}/apply`, { method: "POST", headers, body: "services: 7" });
}

export function accessLines({ logs }: RunningProcess): Record<string, unknown>[] {
  return logs().filter(({ message }) => message === "request completed" || message === "request failed");
}
