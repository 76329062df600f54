/** Tests of a service that sends an incomplete response (GW-117): status, log, metrics and audit event. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { startGateway } from "../../../support/gateway/gateway-process.ts";
import { GatewayNeighbours, MEMBER_KEY } from "../../../support/gateway/neighbours.ts";
import {
  headerValue,
  OK,
  RawClient,
  type RawResponse,
  type RawSocket,
  RawUpstream,
  rawRequest,
  spell,
} from "../../../support/http/raw-http.ts";
import { type RunningProcess, services, waitFor } from "../../../support/index.ts";

setDefaultTimeout(120_000);

const SECRET = "never-on-stderr";
const BODY = "x".repeat(50);

const endings = {
  "a FIN": (socket: RawSocket) => socket.end(),
  "an RST": (socket: RawSocket) => socket.destroy(),
} as const;
type Ending = keyof typeof endings;

describe.skipIf(!services().etcd.real)("an incomplete response of a service", () => {
  const service = new RawUpstream();
  const neighbours = new GatewayNeighbours();
  const { audit } = neighbours;
  let gateway: RunningProcess;

  beforeAll(async () => {
    const things: StoredServiceConfig = {
      url: service.url,
      organization: { routes: [{ path: "/things", methods: ["GET", "POST"], audit: true }] },
    };
    gateway = await startGateway({
      services: { things },
      env: {
        ...neighbours.env,
      },
    });
  });

  afterEach(() => {
    service.handler = () => OK;
    service.requests.length = 0;
    for (const socket of service.sockets.splice(0)) socket.destroy();
    expect(gateway.stderr).toEqual([]);
  });

  afterAll(async () => {
    expect(await gateway.stop()).toBe(0);
    await neighbours.stop();
    service.close();
  });

  const ask = (method = "GET") =>
    rawRequest(gateway.url, spell(method, `/things?token=${SECRET}`, { "X-API-Key": MEMBER_KEY }));

  /**
   * Lets the service send `head` and an incomplete `body` and then close the connection. With two parts,
   * `body` is a separate write in the next event-loop iteration.
   */
  function breakAfter(head: string, body: string, ending: Ending, parts: 1 | 2): void {
    service.handler = (_, socket) => {
      if (parts === 1) {
        socket.send(head + body);
        endings[ending](socket);
      } else {
        socket.send(head);
        setImmediate(() => {
          socket.send(body);
          endings[ending](socket);
        });
      }
      return null;
    };
  }

  function expectBadGateway(response: RawResponse): void {
    const { status, complete } = response;
    expect({ status, complete }).toEqual({ status: 502, complete: true });
    expect(JSON.parse(response.body.toString())).toMatchObject({
      error: { type: "api_error", code: "SERVICE_UNAVAILABLE", details: null },
    });
  }

  /** Waits until these 502 responses are in the log and in audit, and expects how they are recorded. */
  async function expectRecorded(responses: RawResponse[]): Promise<void> {
    const ids = new Set(responses.map(({ headers }) => headerValue(headers, "x-request-id")));
    const outcomes = () => audit.of("PATCH").filter(({ path }) => ids.has(path.split("/").at(-1) ?? ""));
    await waitFor(() => outcomes().length === ids.size, { what: "every outcome" });
    expect(outcomes().map(({ body }) => body)).toEqual(
      Array.from(ids, () => ({ outcome: "no_response", status: 502 })),
    );
    const lines = () => gateway.logs().filter(({ request_id }) => ids.has(String(request_id)));
    await waitFor(() => lines().length === ids.size, { what: "every log line" });
    for (const line of lines()) {
      expect(line).toMatchObject({ level: "error", status: 502, error_kind: "network" });
    }
    expect(gateway.stdout.join()).not.toContain(SECRET);
  }

  for (const ending of ["a FIN", "an RST"] as const) {
    for (const parts of [1, 2] as const) {
      // GW-117
      test(`of known length is a 502 if ${ending} follows any byte (${parts} writes)`, async () => {
        const head = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${BODY.length}\r\n\r\n`;
        const before = await requestsCounted(gateway, 502);
        const responses: RawResponse[] = [];
        for (let sent = 0; sent < BODY.length; sent++) {
          breakAfter(head, BODY.slice(0, sent), ending, parts);
          responses.push(...(await Promise.all([ask(), ask(), ask("POST"), ask(), ask()])));
        }
        for (const response of responses) expectBadGateway(response);
        expect(await requestsCounted(gateway, 502)).toBe(before + responses.length);
        await expectRecorded(responses);
      });
    }

    // GW-117
    test(`in chunks never looks complete after ${ending}, and is a 502 before the first body byte`, async () => {
      const head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n";
      // The body lacks the final CRLF, without which it is incomplete.
      const body = "5\r\nhello\r\n5\r\nworld\r\n0\r\n";
      const firstByte = body.indexOf("h");
      const unanswered: RawResponse[] = [];
      for (let sent = 0; sent < 2 * body.length; sent++) {
        const length = sent >> 1;
        breakAfter(head, body.slice(0, length), ending, sent % 2 === 0 ? 1 : 2);
        const responses = await Promise.all([ask(), ask(), ask("POST"), ask()]);
        for (const response of responses.filter(({ status }) => status !== 200)) expectBadGateway(response);
        expect({ length, whole: responses.filter(isWhole) }).toEqual({ length, whole: [] });
        if (length > firstByte) continue;
        expect({ length, statuses: responses.map(({ status }) => status) }).toEqual({
          length,
          statuses: responses.map(() => 502),
        });
        unanswered.push(...responses);
      }
      await expectRecorded(unanswered);
    });

    // GW-118
    test(`is a 502 if ${ending} follows any byte of its head`, async () => {
      const head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
      const responses: RawResponse[] = [];
      for (let sent = 0; sent < head.length; sent++) {
        breakAfter("", head.slice(0, sent), ending, 1);
        responses.push(...(await Promise.all([ask("POST"), ask("GET")])));
      }
      for (const response of responses) expectBadGateway(response);
      await expectRecorded(responses);
    });

    // GW-124
    test(`on a reused connection is a 502 after ${ending}, and the request is not retried`, async () => {
      const responses: RawResponse[] = [];
      for (let sent = 0; sent < BODY.length; sent++) {
        let served = 0;
        service.handler = (_, socket) => {
          served += 1;
          if (served === 1) return OK;
          socket.send(`HTTP/1.1 200 OK\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY.slice(0, sent)}`);
          endings[ending](socket);
          return null;
        };
        expect((await ask()).status).toBe(200);
        responses.push(await ask(sent % 2 === 0 ? "GET" : "POST"));
        expect(served).toBe(2);
      }
      for (const response of responses) expectBadGateway(response);
      await expectRecorded(responses);
    });
  }

  for (const [what, headers, body] of [
    ["small", { "Content-Length": "20" }, "x".repeat(19)],
    ["chunked", { "Transfer-Encoding": "chunked" }, "5\r\nhello\r\n5\r\nworl"],
    ["large", { "Content-Length": "70000" }, "x".repeat(19)],
  ] as const) {
    for (const ending of ["a FIN", "an RST"] as const) {
      // GW-123
      test(`is no error of the service if the client leaves within a ${what} body with ${ending}`, async () => {
        service.handler = () => null;
        const before = gone().length;
        const closed = () => audit.of("PATCH").filter(({ body }) => Bun.deepEquals(body, LEFT)).length;
        const closedBefore = closed();
        const intents = audit.of("PUT").length;
        for (let sent = 0; sent < body.length; sent++) {
          const client = await RawClient.connect(gateway.url);
          const head = spell("POST", `/things?token=${SECRET}`, { ...headers, "X-API-Key": MEMBER_KEY });
          client.send(head + body.slice(0, sent));
          // A reset can discard bytes that the gateway has not read yet, so wait before each reset.
          if (ending === "an RST" || sent % 2 === 0) {
            await waitFor(() => audit.of("PUT").length > intents + sent);
          }
          endings[ending](client);
        }
        await waitFor(() => gone().length === before + body.length, { what: "every log line" });
        await waitFor(() => closed() === closedBefore + body.length, { what: "every outcome" });
        await waitFor(() => openCalls() === 0, { what: "the calls of the service to end" });
      });
    }
  }
  const LEFT = { outcome: "no_response", status: null };
  const gone = () => gateway.logs().filter(({ status }) => status === 499);
  // A connection without received bytes is not a call: the gateway keeps a connection that it opened for a
  // request whose client left before the request was sent.
  const openCalls = () =>
    service.sockets.filter(({ closed, receivedBytes }) => !closed && receivedBytes > 0).length;

  test("leaves the client's connection usable", async () => {
    const client = await RawClient.connect(gateway.url);
    const request = spell("GET", "/things", { "X-API-Key": MEMBER_KEY });
    for (let round = 0; round < 20; round++) {
      breakAfter("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "half", round % 2 ? "a FIN" : "an RST", 1);
      client.send(request);
      expectBadGateway(await client.response());
      service.handler = () => OK;
      client.send(request);
      expect((await client.response()).body.toString()).toBe("ok");
    }
    client.destroy();
  });
});

const isWhole = ({ status, complete }: RawResponse) => status === 200 && complete;

async function requestsCounted(gateway: RunningProcess, status: number): Promise<number> {
  const text = await (await fetch(`${gateway.internalUrl}/metrics`)).text();
  const counts = text.matchAll(/^http_requests_total\{(.*)\} (\d+)$/gm);
  return [...counts]
    .filter(([, labels]) => labels?.includes(`status="${status}"`))
    .reduce((sum, [, , count]) => sum + Number(count), 0);
}
