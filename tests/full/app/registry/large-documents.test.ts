import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openRouteStore, type RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import {
  ADMIN_TOKEN,
  type Client,
  fields,
  projected,
  service,
  startRegistryProcess,
} from "../../../app/registry/harness.ts";
import {
  freshDatabase,
  freshRouteStoreUrl,
  type RunningProcess,
  services,
  waitFor,
} from "../../../support/index.ts";
import { metricOf } from "../../../support/telemetry/metrics.ts";

const MIB = 1024 * 1024;
const ROUTES = 10_000;

describe.skipIf(!services().etcd.real)("a registry given large documents", () => {
  let registry: RunningProcess & Client;
  let routeStore: RouteStore;
  let resting: number;

  beforeAll(async () => {
    const ROUTE_STORE_URL = await freshRouteStoreUrl();
    routeStore = await openRouteStore(ROUTE_STORE_URL);
    registry = await startRegistryProcess({ DATABASE_URL: await freshDatabase(), ROUTE_STORE_URL });
    resting = await memory();
  });
  afterAll(async () => {
    await registry.stop();
    await routeStore.close();
  });

  /** Returns the resident memory of the registry's process in bytes. */
  const memory = () => metricOf(registry, "process_resident_memory_bytes");

  test("publishes 10 000 routes of one service, and publishes the same again", async () => {
    const config = service(...Array.from({ length: ROUTES }, (_, n) => `/one/${n}/{id}`));
    for (const revision of [1, 2]) {
      const answer = await registry.apply({ large: config });
      expect(answer.body.results).toEqual([{ service: "large", status: "upserted", revision }]);
    }
    await waitFor(async () => Bun.deepEquals((await projected(routeStore)).large, config));
    const found = await registry.call("GET", "/routes?method=GET&path=/one/9999/7");
    expect(found.body).toMatchObject({ service: "large", params: { id: "7" } });
    const conflict = await registry.put("small", service("/small", "/one/5000/{other}"));
    expect(conflict.body.error.details.conflicts).toHaveLength(1);
  });

  // RG-30, RG-42
  test("lists at most a hundred of thousands of violations or conflicts", async () => {
    const wrong = service(...Array.from({ length: ROUTES }, (_, n) => `/Upper/${n}/`));
    expect(fields(await registry.put("wrong", wrong))).toHaveLength(100);
    const owned = service(...Array.from({ length: 5_000 }, (_, n) => `/owned/${n}`));
    await registry.put("owner", owned);
    const answer = await registry.put("thief", { url: owned.url, member: owned.user });
    expect(answer.status).toBe(409);
    expect(answer.body.error.details.conflicts).toHaveLength(100);
    expect(answer.body.error.message).toContain("and 4900 more");
  });

  // RG-41
  test("refuses a service that is too large for the route store", async () => {
    const labels = Array.from({ length: 32 }, (_, n) => `${"l".repeat(60)}${n}`);
    const routes = Array.from({ length: 1_000 }, (_, n) => ({
      path: `/heavy/${n}`,
      methods: ["PUT"],
      required_labels: labels,
    }));
    const answer = await registry.put("heavy", { url: "http://a:1", member: { routes } });
    expect(answer.status).toBe(422);
    expect(fields(answer)[0]?.message).toContain("split the service into several");
  });

  // RG-40
  test("returns 413 for a body over MAX_BODY_BYTES, with or without a Content-Length", async () => {
    const body = new Uint8Array(4 * MIB + 1);
    const answer = await registry.call("POST", "/apply", body);
    expect(answer.status).toBe(413);
    expect(answer.body.error).toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      message: "Request body is too large.",
      details: { max_size_bytes: 4 * MIB },
    });
    expect((await registry.call("PUT", "/services/a", body)).status).toBe(413);
    const streamed = await fetch(`${registry.url}/apply`, {
      method: "POST",
      headers: { Authorization: `Bearer ${ADMIN_TOKEN}` },
      body: new Blob([body]).stream(),
    });
    expect(streamed.status).toBe(413);
  });

  test("survives hostile bodies of the maximum size in bounded memory", async () => {
    const size = 4 * MIB;
    const bodies = [
      "[".repeat(size),
      "- ".repeat(size / 2),
      `[${"a,".repeat(size / 2 - 1)}]`,
      "]".repeat(size),
      "\t:\n".repeat(Math.floor(size / 3)),
      "&a ".repeat(Math.floor(size / 3)),
      `a: &a [${"x,".repeat(90_000)}]\nb: [${"*a,".repeat(90)}]`,
      "? ".repeat(size / 2),
      Array.from({ length: 250_000 }, (_, n) => `key${n}: 1`).join("\n"),
      `{"services": {${"\u2028".repeat(1_000_000)}`,
    ];
    for (const [index, body] of bodies.entries()) {
      for (const type of ["application/yaml", "application/json"]) {
        const answer = await registry.call("POST", "/apply", body, { "Content-Type": type });
        expect([index, type, answer.status]).toEqual([index, type, 422]);
      }
    }
    expect((await registry.call("GET", "/services")).status).toBe(200);
    // Memory levels off at about 800 MiB. The limit is higher, because the peak depends on garbage
    // collection.
    expect((await memory()) - resting).toBeLessThan(2_000 * MIB);
  }, 120_000);
});
