import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type LocalGateway, publicService, startLocalGateway } from "../../support/gateway/gateway.ts";
import { RawClient, RawUpstream, spell } from "../../support/http/raw-http.ts";

setDefaultTimeout(60_000);

/** The accepted number of extra connections per request, beyond those that concurrent requests need. */
const SPARE_SHARE = 5 / 1_000;

describe("the gateway opens no connection to a service while one is idle", () => {
  const services: RawUpstream[] = [];
  let gateway: LocalGateway;

  beforeAll(async () => {
    gateway = await startLocalGateway({ LOG_ACCESS_SAMPLE: "0" });
  });

  afterEach(() => {
    for (const service of services.splice(0)) service.close();
  });

  afterAll(() => gateway.close());

  /** Publishes `count` services with the routes `/s/0`, `/s/1` and so on. */
  async function publish(count: number): Promise<void> {
    services.push(...Array.from({ length: count }, () => new RawUpstream()));
    const methods = ["GET" as const, "POST" as const, "PUT" as const, "DELETE" as const];
    const published = services.map((service, number) => [
      `s-${number}`,
      publicService(service.url, { path: `/s/${number}`, methods }),
    ]);
    await gateway.publish(Object.fromEntries(published));
  }

  const connections = () => services.reduce((sum, { sockets }) => sum + sockets.length, 0);

  test("for 400 clients of one service, it opens 400 connections", async () => {
    await publish(1);
    const { requests } = await askTogether(gateway, { clients: 400, each: 25, service: () => 0 });
    expect(connections()).toBeLessThanOrEqual(400 + requests * SPARE_SHARE);
  });

  test("for 64 clients of 200 services, it opens as many connections to each as it had concurrent requests", async () => {
    await publish(200);
    const service = (client: number, turn: number) => Bun.hash.crc32(`${client}, ${turn}`) % 200;
    const { requests, atOnce } = await askTogether(gateway, { clients: 64, each: 150, service });
    expect(connections()).toBeLessThanOrEqual(atOnce + requests * SPARE_SHARE);
  });

  test.each([
    ["POST", { "Content-Length": "0" }],
    ["PUT", { "Content-Length": "0" }],
    ["PUT", {}],
    ["DELETE", {}],
  ])("for 32 clients that send %s without a body, with %p, it opens 32", async (method, headers) => {
    await publish(1);
    const { requests } = await askTogether(gateway, {
      clients: 32,
      each: 50,
      service: () => 0,
      method,
      headers,
    });
    expect(connections()).toBeLessThanOrEqual(32 + requests * SPARE_SHARE);
  });
});

// GW-169
test("UPSTREAM_CLIENT selects the HTTP client for services, and both clients work", async () => {
  const opened = async (env: Record<string, string>) => {
    const gateway = await startLocalGateway(env);
    const service = new RawUpstream();
    await gateway.publish({ things: publicService(service.url, { path: "/things", methods: ["GET"] }) });
    for (let nth = 0; nth < 3; nth++) expect((await fetch(`${gateway.url}/things`)).status).toBe(200);
    const metrics = await gateway.metrics();
    await gateway.close();
    service.close();
    return (
      /^gateway_upstream_connections_opened_total\{service="things"\} (\d+)$/m.exec(metrics)?.[1] ?? null
    );
  };
  expect(await opened({})).toBe("1");
  expect(await opened({ UPSTREAM_CLIENT: "pool" })).toBe("1");
  expect(await opened({ UPSTREAM_CLIENT: "fetch" })).toBeNull();
});

interface Asked {
  readonly clients: number;
  /** The number of consecutive requests of each client. */
  readonly each: number;
  /** Returns the number of the service that a client's request number `turn` calls. */
  readonly service: (client: number, turn: number) => number;
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

/**
 * Runs all clients concurrently, each on its own connection. Returns the number of requests. `atOnce` is the
 * sum of the highest concurrency that each service had.
 */
async function askTogether(
  { url }: LocalGateway,
  { clients, each, service, method = "GET", headers = {} }: Asked,
): Promise<{ requests: number; atOnce: number }> {
  const underway = new Map<number, number>();
  const most = new Map<number, number>();
  const ask = async (client: number) => {
    const connection = await RawClient.connect(url);
    for (let turn = 0; turn < each; turn += 1) {
      const number = service(client, turn);
      const now = (underway.get(number) ?? 0) + 1;
      underway.set(number, now);
      most.set(number, Math.max(most.get(number) ?? 0, now));
      connection.send(spell(method, `/s/${number}`, headers));
      expect((await connection.response(method, 30_000)).status).toBe(200);
      underway.set(number, (underway.get(number) ?? 0) - 1);
    }
    connection.destroy();
  };
  await Promise.all(Array.from({ length: clients }, (_, client) => ask(client)));
  return { requests: clients * each, atOnce: [...most.values()].reduce((sum, count) => sum + count, 0) };
}
