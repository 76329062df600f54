import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Registry } from "prom-client";
import { ConnectionCounts } from "../../../../apps/gateway/upstream/connection-counts.ts";
import { PoolClient, type PoolClientOptions } from "../../../../apps/gateway/upstream/pool-client.ts";
import { begin, POOL_OPTIONS, textOf } from "../../../app/gateway/upstream/client-bed.ts";
import { OK, RawUpstream } from "../../../support/http/raw-http.ts";
import { waitFor } from "../../../support/index.ts";
import { type ManualClock, manualClock } from "../../../support/time/manual-clock.ts";

const OPTIONS: PoolClientOptions = {
  ...POOL_OPTIONS,
  idleMax: 4,
  keepAliveMs: 10_000,
  connectTimeoutMs: 500,
};

let service: RawUpstream;
let clock: ManualClock;
/** Sends the responses that the service holds back. */
let respond: (text?: string) => void;

beforeEach(() => {
  service = new RawUpstream(() => OK);
  clock = manualClock();
});

afterEach(() => service.close());

/** Makes the service hold back its responses until `respond` is called. */
function holdResponses(): void {
  const { promise, resolve } = Promise.withResolvers<string>();
  service.handler = () => promise;
  respond = (text = OK) => resolve(text);
}

function clientWith(options: Partial<PoolClientOptions> = {}) {
  const counts = new ConnectionCounts(new Registry());
  const client = new PoolClient({ ...OPTIONS, ...options }, counts, clock);
  const call = (to = service) => begin(client, to);
  /** Makes `count` calls at once, and waits for all responses. */
  const crowd = async (count: number) => {
    holdResponses();
    const calls = Array.from({ length: count }, () => call());
    await waitFor(() => service.requests.length >= count);
    respond();
    await Promise.all(calls.map(({ response }) => response));
    service.requests.length = 0;
  };
  return { counts: counts.of("widgets"), call, crowd };
}

/** Runs `count` sweeps of the pool, and lets connections close after each sweep. */
async function sweeps(count: number): Promise<void> {
  for (let sweep = 0; sweep < count; sweep++) {
    clock.advance(1_000);
    await Bun.sleep(0);
  }
}

const statusOf = async ({ response }: { response: Promise<{ status: number }> }) => (await response).status;

describe("an idle connection", () => {
  // GW-164
  test("is closed after the keep-alive time, and not before it", async () => {
    const { call, counts } = clientWith();
    await statusOf(call());
    await sweeps(8);
    expect(service.open).toBe(1);
    await sweeps(2);
    await waitFor(() => service.open === 0);
    expect(counts.closed).toMatchObject({ idle: 1 });
  });

  // GW-164
  test("is closed a second before the service's announced timeout", async () => {
    service.handler = () => OK.replace("\r\n", "\r\nKeep-Alive: timeout=5, max=100\r\n");
    const { call } = clientWith();
    await statusOf(call());
    await sweeps(2);
    expect(service.open).toBe(1);
    await sweeps(2);
    await waitFor(() => service.open === 0);
  });
});

describe("idle connections beyond the limit", () => {
  // GW-165
  test("are kept while they are reused, and closed after a second without use", async () => {
    const { crowd } = clientWith();
    for (let nth = 0; nth < 20; nth++) await crowd(12);
    expect(service.sockets).toHaveLength(12);
    await sweeps(2);
    await waitFor(() => service.open === 4);
  });
});

describe("a request without an idle connection", () => {
  test("uses the first connection that becomes free or is established", async () => {
    const { crowd } = clientWith();
    await crowd(1_000);
    expect(service.sockets.length).toBeLessThanOrEqual(1_000);
  });

  // GW-125
  test("waits while the maximum number of connections is open, then uses a free one", async () => {
    const { call } = clientWith({ connectionsMax: 1 });
    holdResponses();
    const calls = [call(), call(), call()];
    await waitFor(() => service.requests.length === 1);
    respond();
    expect(await Promise.all(calls.map(statusOf))).toEqual([200, 200, 200]);
    expect(service.sockets).toHaveLength(1);
  });

  // GW-165
  test("replaces another service's idle connection if the maximum is open", async () => {
    const other = new RawUpstream(() => OK);
    const { call } = clientWith({ connectionsMax: 1 });
    await statusOf(call(other));
    expect(await statusOf(call())).toBe(200);
    await waitFor(() => other.open === 0);
    other.close();
  });

  test("replaces the connection of another service's canceled request", async () => {
    const other = new RawUpstream(() => null);
    const { call } = clientWith({ connectionsMax: 1 });
    const first = call(other);
    await waitFor(() => other.requests.length === 1);
    const second = call();
    first.handle.underway?.abort();
    await expect(first.response).rejects.toMatchObject({ code: "ECONNABORTED" });
    expect(await statusOf(second)).toBe(200);
    other.close();
  });

  // GW-125
  test("fails after the connect timeout, and is never sent", async () => {
    const { call } = clientWith({ connectionsMax: 1 });
    holdResponses();
    const first = call();
    await waitFor(() => service.requests.length === 1);
    const late = call();
    clock.advance(499);
    const later = call();
    clock.advance(1);
    await expect(late.response).rejects.toMatchObject({ code: "ETIMEDOUT" });
    await Bun.sleep(0);
    expect(late.handle.underway).toBeNull();
    respond();
    expect([await statusOf(first), await statusOf(later)]).toEqual([200, 200]);
    expect(service.requests).toHaveLength(2);
  });

  test("leaves its connection to the next request if it is canceled while it waits", async () => {
    const { call, counts } = clientWith();
    const first = call();
    first.handle.underway?.abort();
    await expect(first.response).rejects.toMatchObject({ code: "ECONNABORTED" });
    await waitFor(() => counts.established === 1);
    expect(await statusOf(call())).toBe(200);
    expect(counts).toMatchObject({ established: 1, reused: 1 });
  });

  test("is not sent if it is canceled while it waits", async () => {
    const { call } = clientWith({ connectionsMax: 1 });
    holdResponses();
    const first = call();
    await waitFor(() => service.requests.length === 1);
    const second = call();
    second.handle.underway?.abort();
    await expect(second.response).rejects.toMatchObject({ code: "ECONNABORTED" });
    respond();
    await first.response;
    expect(service.requests).toHaveLength(1);
  });
});

test("an abort after the response is complete does not affect the request that now has the connection", async () => {
  const { call } = clientWith();
  const first = call();
  const held = first.handle.underway;
  await first.response;
  holdResponses();
  const second = call();
  await waitFor(() => service.requests.length === 2);
  expect(first.handle.underway).toBeNull();
  held?.abort();
  respond();
  expect(await statusOf(second)).toBe(200);
  expect(service.sockets).toHaveLength(1);
});

// GW-126
test("an unread response does not block the connections of other requests", async () => {
  const { call } = clientWith();
  for (let length = 270_000; length < 600_000; length += 30_000) {
    service.handler = () => `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n${"x".repeat(length)}`;
    const { body } = await call().response;
    service.handler = () => OK;
    expect(await statusOf(call())).toBe(200);
    expect(await textOf(body)).toHaveLength(length);
  }
});
