/** Tests the metrics for operators, and that no client can create a new time series (OP-51). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { VERSION } from "@ostiary/lib/runtime/version";
import { member } from "../../support/gateway/identity-stand-in.ts";
import { GatewayNeighbours } from "../../support/gateway/neighbours.ts";
import { OK, RawClient, RawUpstream, rawRequest, spell } from "../../support/http/raw-http.ts";
import { waitFor } from "../../support/index.ts";
import { useGateway } from "./bed.ts";

const KEY = `acme-k-2-${"a".repeat(43)}`;
const ANOTHER_KEY = `acme-k-2-${"b".repeat(43)}`;
const neighbours = new GatewayNeighbours({ [KEY]: member(), [ANOTHER_KEY]: member() });
const service = new RawUpstream();
const gateway = useGateway({
  ...neighbours.env,
  RATE_LIMIT_REQUESTS: "1000",
  RATE_LIMIT_AUTH_FAILURE_REQUESTS: "100",
  UPSTREAM_TIMEOUT_MS: "300",
});

beforeAll(async () => {
  service.handler = ({ target }, socket) => {
    if (target === "/late") return null;
    if (target === "/stream") {
      socket.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
      return null;
    }
    return target === "/busy" ? "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n" : OK;
  };
  await gateway.publish({
    things: {
      url: service.url,
      rate_limits: { one: { requests: 1, window_seconds: 60 } },
      public: {
        routes: [
          { path: "/open", methods: ["GET"], rate_limit: false },
          { path: "/busy", methods: ["GET"], rate_limit: false },
          { path: "/late", methods: ["GET"], rate_limit: false },
          { path: "/inline", methods: ["GET"], rate_limit: { requests: 1, window_seconds: 60 } },
          { path: "/stream", methods: ["GET"], rate_limit: false },
        ],
      },
      organization: {
        routes: [
          { path: "/org/{id}", methods: ["GET"] },
          { path: "/org-one", methods: ["GET"], rate_limit: "one" },
        ],
      },
    },
  });
  await gateway.routes.put("edge/gateway/routes/broken", "{}");
});

afterAll(async () => {
  await neighbours.stop();
  service.close();
});

const ask = (path: string, key?: string) =>
  rawRequest(gateway.url, spell("GET", path, key === undefined ? {} : { "X-API-Key": key }));

async function value(name: string): Promise<number> {
  const lines = (await gateway.metrics()).split("\n");
  return Number(
    lines
      .find((line) => line.startsWith(`${name} `))
      ?.split(" ")
      .at(-1) ?? Number.NaN,
  );
}

test("the admission cache counts hits, misses and entries", async () => {
  const of = (what: string) => value(`gateway_admission_cache_${what}{cache="credentials"}`);
  const before = { hits: await of("hits_total"), misses: await of("misses_total") };
  for (let count = 0; count < 3; count += 1) await ask(`/org/${count}`, ANOTHER_KEY);
  expect(await of("misses_total")).toBe(before.misses + 1);
  expect(await of("hits_total")).toBe(before.hits + 2);
  expect(await of("entries")).toBeGreaterThanOrEqual(1);
});

test("validations are timed by kind and result, including failed ones", async () => {
  const count = (result: string) =>
    value(`gateway_validation_duration_seconds_count{kind="credential",result="${result}"}`);
  const before = { invalid: await count("invalid"), failed: await count("failed") };
  await ask("/org/1", `acme-k-2-${"d".repeat(43)}`);
  expect(await count("invalid")).toBe(before.invalid + 1);
  neighbours.identity.override = () => new Response("x", { status: 500 });
  await ask("/org/1", `acme-k-2-${"c".repeat(43)}`);
  neighbours.identity.override = null;
  expect(await count("failed")).toBe(before.failed + 1);
});

test("admitted and refused requests are counted by rate-limit policy", async () => {
  const of = (policy: string, decision: string) =>
    value(`gateway_limit_decisions_total{policy="${policy}",decision="${decision}"}`);
  const before = await of("fallback", "admitted");
  await ask("/org/1", KEY);
  expect(await of("fallback", "admitted")).toBe(before + 1);
  for (let count = 0; count < 3; count += 1) await ask("/inline");
  expect(await of("route", "refused")).toBe(2);
  for (let count = 0; count < 3; count += 1) await ask("/org-one", KEY);
  expect(await of("local:things:one", "admitted")).toBe(1);
  expect(await of("local:things:one", "refused")).toBe(2);
});

test("calls to services are timed by service and status class", async () => {
  const count = (status_class: string) =>
    value(`gateway_upstream_duration_seconds_count{service="things",status_class="${status_class}"}`);
  await ask("/open");
  await ask("/busy");
  await ask("/late");
  expect(await count("2xx")).toBeGreaterThanOrEqual(1);
  expect(await count("5xx")).toBe(1);
  expect(await count("none")).toBe(1);
});

test("gauges show loaded routes and services, when they were loaded, and how many services were skipped", async () => {
  expect(await value("gateway_services_loaded")).toBe(2);
  await waitFor(async () => (await value("gateway_services_left_out")) === 1);
  expect(await value("gateway_routes_loaded")).toBe(8);
  expect(await value("gateway_routes_stale")).toBe(0);
  const loadedS = await value("gateway_routes_loaded_timestamp_seconds");
  expect(Math.abs(Date.now() / 1000 - loadedS)).toBeLessThan(60);
});

test("gauges show open connections, calls and streams", async () => {
  const client = await RawClient.connect(gateway.url);
  client.send(spell("GET", "/stream"));
  await waitFor(async () => (await value("gateway_open_streams")) === 1);
  expect(await value("gateway_open_upstream_calls")).toBe(1);
  // A count of connections can be too low while other connections open or close.
  if (process.platform === "linux") await waitFor(async () => (await value("gateway_open_connections")) >= 1);
  client.destroy();
  await waitFor(async () => (await value("gateway_open_streams")) === 0);
  await waitFor(async () => (await value("gateway_open_upstream_calls")) === 0);
});

test("metrics show the event loop, open files and the build", async () => {
  await waitFor(async () => (await value("event_loop_delay_seconds_count")) > 0);
  if (process.platform === "linux") expect(await value("process_open_fds")).toBeGreaterThan(3);
  const scrape = await gateway.metrics();
  expect(scrape).toContain(
    `ostiary_build_info{version="${VERSION}",runtime="bun",runtime_version="${Bun.version}"} 1`,
  );
});

// OP-51
describe("no client can create a time series", () => {
  test("with its path, its key or its headers", async () => {
    const seriesOf = async () =>
      (await gateway.metrics())
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("#"))
        .map((line) => line.slice(0, line.lastIndexOf(" ")));
    await ask("/nowhere/first");
    await ask("/org/first", `acme-k-2-${"f".repeat(43)}`);
    await ask("/org/first", "no key at all");
    await ask("/open");
    // The first scrape itself creates series, so the series are compared from the second one on.
    await seriesOf();
    const before = new Set(await seriesOf());
    for (let count = 0; count < 10; count += 1) {
      const id = crypto.randomUUID();
      await ask(`/nowhere/${id}`);
      await ask(`/org/${id}`, `acme-k-2-${id.replaceAll("-", "").padEnd(43, "z")}`);
      await ask(`/org/${id}`, id);
      await rawRequest(
        gateway.url,
        spell("GET", "/open", { "User-Agent": id, Origin: `https://${id}.example`, traceparent: id }),
      );
    }
    const grown = (await seriesOf()).filter((series) => !before.has(series));
    expect(grown.filter((series) => !series.includes('status="429"'))).toEqual([]);
  });
});
