/** Tests that a gateway that stops sends its clients elsewhere before it closes connections (GW-158). */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { startGateways } from "../../../support/gateway/gateway-process.ts";
import { type IdentityStandIn, startIdentity } from "../../../support/gateway/identity-stand-in.ts";
import {
  headerValue,
  OK,
  RawClient,
  RawUpstream,
  rawRequest,
  spell,
} from "../../../support/http/raw-http.ts";
import { type RunningProcess, services, waitFor } from "../../../support/index.ts";

const GRACE_MS = 3_000;
const chunked = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n";
const events = chunked.replace("text/plain", "text/event-stream");
const hi = { "Content-Length": "2" };

describe.skipIf(!services().etcd.real)("a gateway that drains", () => {
  const service = new RawUpstream(({ target }) =>
    target === "/things?slow" ? null : (responses[target] ?? OK),
  );
  const responses: Record<string, string> = {
    "/things?stream": `${chunked}5\r\nhello\r\n0\r\n\r\n`,
    "/things?events": `${events}b\r\ndata: one\n\n\r\n0\r\n\r\n`,
    "/things?empty": "HTTP/1.1 204 No Content\r\n\r\n",
    "/things?same": 'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n',
    "/things?alive": "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
    "/things?odd": "HTTP/1.1 600 Odd\r\nContent-Length: 0\r\n\r\n",
  };
  const started: RunningProcess[] = [];
  let identity: IdentityStandIn;

  beforeAll(() => {
    identity = startIdentity();
  });
  afterAll(async () => {
    await identity.stop();
    service.close();
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((each) => each.kill()));
    service.requests.length = 0;
  });

  async function start(replicas = 1): Promise<RunningProcess[]> {
    const things: StoredServiceConfig = {
      url: service.url,
      public: {
        routes: [
          { path: "/things", methods: ["GET", "POST", "HEAD"] },
          { path: "/limited", methods: ["GET"], rate_limit: { requests: 1, window_seconds: 600 } },
        ],
      },
      organization: { routes: [{ path: "/org", methods: ["GET"] }] },
    };
    const gateways = await startGateways({
      services: { things },
      replicas,
      env: {
        RATE_LIMIT_AUTH_FAILURE_REQUESTS: "0",
        CREDENTIAL_VALIDATE_URL: identity.url,
        MAX_BODY_BYTES: "100",
        CLIENT_BODY_TIMEOUT_MS: "300",
        SHUTDOWN_GRACE_MS: String(GRACE_MS),
      },
    });
    started.push(...gateways);
    return gateways;
  }

  const draining = ({ internalUrl }: RunningProcess) =>
    waitFor(
      async () => (await fetch(`${internalUrl}/health/ready`)).status === 503 && isShuttingDown(internalUrl),
    );

  // GW-158, OP-31
  test("sends Connection: close in every response only while it drains, and then closes the connection", async () => {
    const table: [what: string, status: number, request: string][] = [
      ["a response", 200, spell("GET", "/things")],
      ["a response to HEAD", 200, spell("HEAD", "/things")],
      ["a response of a service that keeps its connection open", 200, spell("GET", "/things?alive")],
      ["a streamed response", 200, spell("GET", "/things?stream")],
      ["an event stream", 200, spell("GET", "/things?events")],
      ["a 204", 204, spell("GET", "/things?empty")],
      ["a 304", 304, spell("GET", "/things?same")],
      ["a response to a POST", 200, spell("POST", "/things", hi, "hi")],
      ["a preflight", 204, spell("OPTIONS", "/things")],
      ["a 400", 400, spell("GET", "/things", { Host: "a b" })],
      ["a 401", 401, spell("GET", "/org")],
      ["a 404", 404, spell("GET", "/nowhere")],
      ["a 413", 413, spell("POST", "/things", { "Content-Length": "101" })],
      ["a 429", 429, spell("GET", "/limited")],
      ["a 502", 502, spell("GET", "/things?odd")],
    ];
    const [gateway] = await start();
    if (gateway === undefined) throw new Error("No gateway started.");
    await rawRequest(gateway.url, spell("GET", "/limited"));
    const clients = await Promise.all(table.map(() => RawClient.connect(gateway.url)));
    for (const [index, [what, status, request]] of table.entries()) {
      const client = clients[index];
      if (client === undefined || status === 413) continue;
      client.send(request);
      const response = await client.response(request.split(" ")[0]);
      expect({ what, status: response.status }).toEqual({ what, status });
      expect(headerValue(response.headers, "connection")).not.toBe("close");
      expect(client.closed).toBe(false);
    }
    const stopped = gateway.stop();
    await draining(gateway);
    for (const [index, [what, status, request]] of table.entries()) {
      const client = clients[index];
      client?.send(request);
      const response = await client?.response(request.split(" ")[0]);
      const connection = headerValue(response?.headers ?? [], "connection");
      expect({ what, status: response?.status, connection }).toEqual({ what, status, connection: "close" });
      await client?.untilClosed();
    }
    expect(await stopped).toBe(0);
  });
});

async function isShuttingDown(internalUrl: string): Promise<boolean> {
  return (await (await fetch(`${internalUrl}/health/ready`)).text()).includes("shutting down");
}
