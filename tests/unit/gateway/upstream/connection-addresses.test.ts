/** Tests to which addresses of a service's name the pool connects, and how long it keeps the connections. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { ConnectionCounts } from "../../../../apps/gateway/upstream/connection-counts.ts";
import { PoolClient, type PoolClientOptions } from "../../../../apps/gateway/upstream/pool-client.ts";
import { begin, call, POOL_OPTIONS } from "../../../app/gateway/upstream/client-bed.ts";
import { OK, RawUpstream } from "../../../support/http/raw-http.ts";
import { silenceAddress } from "../../../support/http/silent-address.ts";
import { rejection, waitFor } from "../../../support/index.ts";
import { type ManualClock, manualClock } from "../../../support/time/manual-clock.ts";

const AGE_MAX_MS = 60_000;
const OPTIONS: PoolClientOptions = { ...POOL_OPTIONS, keepAliveMs: 600_000, ageMaxMs: AGE_MAX_MS };
const NAME = "widgets.internal";

let clock: ManualClock;
/** The addresses that the resolver returns, or the reason why it fails. */
let found: string[] | Error;
let resolve: () => Promise<readonly string[]>;
let lookups = 0;
let services: RawUpstream[];

beforeEach(() => {
  clock = manualClock();
  found = [];
  lookups = 0;
  resolve = async () => {
    if (found instanceof Error) throw found;
    return found;
  };
  services = [];
});
afterEach(() => {
  for (const service of services) service.close();
});

/** Starts services on one port of 127.0.0.1, 127.0.0.2, and so on. */
function listen(count: number): RawUpstream[] {
  for (let nth = 1; nth <= count; nth++) {
    const port = services[0]?.port ?? 0;
    services.push(new RawUpstream(() => OK, { hostname: `127.0.0.${nth}`, port }));
  }
  found = services.map((_, index) => `127.0.0.${index + 1}`);
  return services;
}

function clientWith({ random = 0.5, ...options }: Partial<PoolClientOptions> & { random?: number } = {}) {
  const counts = new ConnectionCounts(null);
  const client = new PoolClient({ ...OPTIONS, ...options }, counts, clock, {
    random: () => random,
    resolve: () => {
      lookups += 1;
      return resolve();
    },
  });
  const send = (path = "/") => begin(client, services[0] ?? { port: 1 }, { path }, NAME);
  const ask = async () => (await call(client, services[0] ?? { port: 1 }, {}, NAME)).text;
  return { counts: counts.of("widgets"), send, ask };
}

const opened = () => services.map(({ sockets }) => sockets.length);

// GW-211
describe("a connection is not reused", () => {
  test.each([
    [0, 0.9],
    [0.5, 1],
    [1, 1.1],
  ])("after its age, of which a tenth is random (%d)", async (random, factor) => {
    listen(1);
    const { ask, counts } = clientWith({ random });
    await ask();
    // The sweep closes idle connections up to a second before their time.
    clock.advance(AGE_MAX_MS * factor - 2_000);
    await ask();
    expect(opened()).toEqual([1]);
    clock.advance(2_000);
    await ask();
    expect(opened()).toEqual([2]);
    await waitFor(() => counts.closed.aged === 1);
  });

  test("so a busy client follows a changed address", async () => {
    const [first, second] = listen(2);
    found = ["127.0.0.1"];
    const { ask } = clientWith();
    const load = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 1_000) {
        await Promise.all([ask(), ask(), ask()]);
        clock.advance(1_000);
      }
    };
    await load(10_000);
    expect(second?.requests).toHaveLength(0);
    found = ["127.0.0.2"];
    await load(AGE_MAX_MS + 1_000);
    const before = first?.requests.length ?? 0;
    await load(20_000);
    expect(first?.requests).toHaveLength(before);
    expect(second?.requests.length).toBeGreaterThan(60);
  });
});

// GW-212
describe("new connections", () => {
  test("go to the addresses of a name in turn", async () => {
    listen(3);
    const { ask } = clientWith();
    await Promise.all(Array.from({ length: 9 }, ask));
    expect(opened()).toEqual([3, 3, 3]);
    expect(lookups).toBe(1);
  });

  test("skip an address that refuses, and try it again after a while", async () => {
    const [, second] = listen(2);
    second?.close();
    const { ask, counts } = clientWith({ keepAliveMs: 0 });
    for (let count = 0; count < 10; count++) expect(await ask()).toBe("ok");
    expect(counts.failed).toBe(1);
    services.push(new RawUpstream(() => OK, { hostname: "127.0.0.2", port: services[0]?.port ?? 0 }));
    clock.advance(10_000);
    for (let count = 0; count < 10; count++) expect(await ask()).toBe("ok");
    expect(opened()[2]).toBe(5);
  });

  test("fail when every address refuses, after one attempt each", async () => {
    listen(2);
    for (const service of services) service.close();
    const { ask, counts } = clientWith();
    expect(await rejection(ask())).toMatchObject({ code: "ECONNREFUSED" });
    expect(counts.failed).toBe(2);
    expect(await rejection(ask())).toMatchObject({ code: "ECONNREFUSED" });
  });

  test("skip a silent address within the connect timeout, and leave it out", async () => {
    const [, second] = listen(2);
    second?.close();
    const silent = await silenceAddress("127.0.0.2", services[0]?.port ?? 0);
    found = ["127.0.0.2", "127.0.0.1"];
    const { ask, send } = clientWith({ keepAliveMs: 0, connectTimeoutMs: 900 });
    const first = send();
    await waitFor(() => clock.waiting().includes(300));
    clock.advance(300);
    expect((await first.response).status).toBe(200);
    for (let count = 0; count < 10; count++) expect(await ask()).toBe("ok");
    silent.close();
  });

  // GW-211, GW-212
  test.each([1, 20])(
    "go to a changed address when %d requests have waited in vain for a silent one",
    async (count) => {
      const [, second] = listen(2);
      second?.close();
      const silent = await silenceAddress("127.0.0.2", services[0]?.port ?? 0);
      found = ["127.0.0.2"];
      const { ask, send } = clientWith({ connectTimeoutMs: 900 });
      const vain = Array.from({ length: count }, () => rejection(send().response));
      await waitFor(() => lookups > 0);
      clock.advance(900);
      for (const failure of await Promise.all(vain)) expect(failure).toMatchObject({ code: "ETIMEDOUT" });
      found = ["127.0.0.1"];
      clock.advance(1_000);
      expect(await ask()).toBe("ok");
      silent.close();
    },
  );

  test("go to the known addresses while the resolver fails or is silent", async () => {
    const [service] = listen(1);
    const { send } = clientWith();
    const held = service?.holdResponses();
    const began = async (path: string) => {
      send(path);
      await waitFor(() => held?.has(path));
    };
    await began("/1");
    found = new Error("SERVFAIL");
    clock.advance(5_000);
    await began("/2");
    resolve = () => new Promise(() => {});
    send("/3");
    await waitFor(() => clock.waiting().includes(500));
    clock.advance(500);
    await waitFor(() => held?.has("/3"));
    expect(lookups).toBe(3);
  });
});
