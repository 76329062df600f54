import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { memoryRouteStore, type RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import {
  current,
  projected,
  type Registry,
  type RegistryResponse,
  service,
  startRegistry,
} from "../../../app/registry/bed.ts";
import { duringTests } from "../../../support/during-tests.ts";
import { services, startPostgres, waitFor } from "../../../support/index.ts";
import { connect, runSql } from "../../../support/stores/sql.ts";

describe.skipIf(!services().postgres.real)("the registry while its database is down", () => {
  const database = duringTests(startPostgres);
  let databaseUrl: string;
  let count = 0;
  let routeStore: RouteStore;
  let registry: Registry;

  beforeEach(async () => {
    const name = `away_${++count}`;
    await runSql(database.url, `create database ${name}`);
    databaseUrl = Object.assign(new URL(database.url), { pathname: `/${name}` }).href;
    routeStore = memoryRouteStore();
    registry = await startRegistry({ databaseUrl, routeStore });
    await registry.put("there", service("/there"));
    await waitFor(async () => "there" in (await projected(routeStore)));
  });
  afterEach(() => registry.stop());

  const requests: [string, () => Promise<RegistryResponse>][] = [
    ["apply", () => registry.apply({ a: service("/a"), b: service("/b") })],
    ["a dry run", () => registry.call("POST", "/apply?dry_run=true", { services: { a: service("/a") } })],
    ["PUT", () => registry.put("there", service("/there/2"))],
    ["DELETE", () => registry.call("DELETE", "/services/there")],
    ["restore", () => registry.call("POST", "/services/there/revisions/1/restore")],
    ["GET /services", () => registry.call("GET", "/services")],
    ["GET a service", () => registry.call("GET", "/services/there")],
    ["GET its revisions", () => registry.call("GET", "/services/there/revisions")],
    ["GET a diff", () => registry.call("GET", "/services/there/revisions/1/diff/1")],
    ["the look-up", () => registry.call("GET", "/routes?method=GET&path=/there")],
  ];

  function expectUnavailable({ status, body }: RegistryResponse): void {
    expect(status).toBe(503);
    expect(body.error).toMatchObject({
      type: "api_error",
      code: "SERVICE_UNAVAILABLE",
      message: "Service temporarily unavailable.",
      details: null,
    });
  }

  // RG-52
  test("responds to every operation with 503, writes nothing, and recovers", async () => {
    await database.kill();
    for (const [, request] of requests) expectUnavailable(await request());
    // Violations of a document can be found without the database, so they are still reported.
    expect((await registry.put("bad", { url: "x" })).status).toBe(422);
    expect(await projected(routeStore)).toEqual({ there: service("/there") });
    await database.restart();
    await waitFor(async () => (await registry.call("GET", "/services")).status === 200);
    expect<unknown>(await current(registry)).toEqual({ there: service("/there") });
    expect((await registry.apply({ a: service("/a") })).body.results[0].revision).toBe(1);
    await waitFor(async () => "a" in (await projected(routeStore)));
  });

  // RG-52, RG-53
  test("responds with 503 when the database is frozen, also to queued writes, and recovers", async () => {
    await database.freeze();
    const responses = await Promise.all([
      ...Array.from({ length: 5 }, () => registry.put("there", service("/there"))),
      registry.call("GET", "/services"),
    ]);
    for (const response of responses) expectUnavailable(response);
    await database.thaw();
    await waitFor(async () => (await registry.put("there", service("/there"))).status === 200);
  }, 90_000);

  test.each(["/health/ready", "/metrics"])(
    "responds to %s while another session locks its tables",
    async (path) => {
      const other = connect(databaseUrl);
      await other.unsafe("begin; lock table routes.services, routes.revisions in access exclusive mode");
      const { status } = await fetch(registry.internalUrl + path);
      expect(status).toBe(200);
      await other.unsafe("rollback");
      await other.end();
    },
  );
});
