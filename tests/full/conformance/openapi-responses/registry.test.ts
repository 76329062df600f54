import { beforeAll, describe, expect, test } from "bun:test";
import { ADMIN_TOKEN, service, tokenOf, useRegistry } from "../../../app/registry/bed.ts";
import { entry } from "../../../app/registry/operators.ts";
import { startLoadingGateway } from "../../../support/gateway/loading-gateway.ts";
import { type OpenApiDocument, operationsIn, type PlacedOperation } from "../../../support/http/openapi.ts";
import { BROKEN_QUERY, ResponseCheck, responsesOf } from "./response-check.ts";

/** Returns whether a response is the 409 of a read that app/registry/unreadable-configs.test.ts tests. */
const isOfNewerConfig = (status: string, { method }: PlacedOperation) => status === "409" && method === "GET";

// ER-21
describe("the registry", () => {
  const registry = useRegistry({ operators: [entry("docs", "reader")], env: { MAX_BODY_BYTES: "10000" } });
  let description: OpenApiDocument;
  let check: ResponseCheck;
  beforeAll(async () => {
    description = (await registry.call("GET", "/swagger/json")).body;
    check = new ResponseCheck(description);
  });

  async function call(method: string, path: string, body?: unknown, headers?: Record<string, string>) {
    const response = await registry.call(method, path, body, headers);
    check.expectDescribed(method, path, { ...response, body: response.body === "" ? null : response.body });
    return response;
  }

  test("every response matches the description, and every described response occurs", async () => {
    const limited = {
      url: "http://widgets:8080",
      rate_limits: { burst: { requests: 10, window_seconds: 60, shared: true } },
      organization: {
        route_prefix: "/org",
        routes: [
          {
            path: "/widgets/{id}",
            methods: { GET: null, DELETE: { required_labels: ["a"], rate_limit: "burst" } },
          },
          { path: "/things", methods: ["GET", "POST"], rate_limit: false, audit: true },
          { path: "/others", methods: ["GET"], rate_limit: { requests: 1, window_seconds: 1 } },
        ],
      },
    };
    await call("POST", "/apply?dry_run=true", { services: { widgets: limited } });
    await call("POST", "/apply", { services: { widgets: limited } });
    await call("POST", "/apply?dry_run=true", { services: { widgets: service("/a"), other: service("/b") } });
    expect((await call("POST", "/apply", { services: { other: limited } })).status).toBe(409);
    expect((await call("POST", "/apply", "x".repeat(20_000))).status).toBe(413);
    expect((await call("POST", "/apply", { services: {} })).status).toBe(422);
    await call("PUT", "/services/widgets", service("/a"), { "If-Match": '"1"' });
    expect((await call("PUT", "/services/widgets", service("/a"), { "If-Match": '"1"' })).status).toBe(412);
    await reads();
    expect((await call("DELETE", "/services/widgets?wait_ms=0")).status).toBe(200);
    await call("PUT", "/services/widgets?wait_ms=1000", service("/a"));
    await call("DELETE", "/services/widgets");
    const gateway = await startLoadingGateway(registry.routeStore);
    expect((await call("GET", "/gateways")).body.gateways).toHaveLength(1);
    await gateway.stop();
    await call("POST", "/services/widgets/revisions/1/restore");
    await call("GET", "/routes?method=DELETE&path=/org/widgets/42");
    await call("GET", "/routes?method=GET&path=/org/things");
    await call("GET", "/routes?method=DELETE&path=/org/widgets/42&labels=a,*");
    expect((await call("GET", "/routes?method=GET&path=/org/thing")).status).toBe(404);
    await call("GET", "/changes?limit=1");
    const stale = { "If-Match": '"99"' };
    await call("PUT", "/services/other", service("/a"));
    const conflict = await call("PUT", "/services/widgets", service("/a"));
    expect([conflict.status, conflict.body.error.code]).toEqual([409, "ROUTE_CONFLICT"]);
    expect((await call("POST", "/apply", { services: { other: service("/c") } }, stale)).status).toBe(412);
    expect((await call("DELETE", "/services/widgets", undefined, stale)).status).toBe(412);
    const restore = "/services/widgets/revisions/2/restore";
    expect((await call("POST", restore, undefined, stale)).status).toBe(412);
    expect((await call("POST", restore)).status).toBe(409);
    await refusals();
    expect(check.unseen()).toEqual(responsesOf(description, isOfNewerConfig));
  });

  /** Returns the path of each GET operation, with its parameters replaced by `values`. */
  function readable(values: Record<string, string>): string[] {
    return operationsIn(description)
      .filter(({ method }) => method === "GET")
      .map(({ path }) => path.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? ""));
  }

  async function reads(): Promise<void> {
    for (const path of readable({ name: "widgets", rev: "1", other: "2" })) await call("GET", path);
  }

  async function refusals(): Promise<void> {
    for (const path of readable({ name: "none", rev: "1", other: "2" })) {
      expect((await call("GET", `${path}${BROKEN_QUERY}`)).status).toBe(422);
      if (path.includes("none")) expect((await call("GET", path)).status).toBe(404);
      await call("GET", path, undefined, { Authorization: `Bearer ${ADMIN_TOKEN}x` });
    }
    expect((await call("GET", "/services/none/revisions/x")).status).toBe(404);
    expect((await call("DELETE", "/services/none")).status).toBe(404);
    expect((await call("POST", "/services/none/revisions/1/restore")).status).toBe(404);
    expect((await call("PUT", "/services/none", "{")).status).toBe(422);
    const reader = { Authorization: `Bearer ${tokenOf("docs")}` };
    for (const [method, path] of [
      ["POST", "/apply"],
      ["PUT", "/services/none"],
      ["DELETE", "/services/none"],
      ["POST", "/services/none/revisions/1/restore"],
    ] as const) {
      expect((await call(method, path, undefined, reader)).status).toBe(403);
    }
  }
});
