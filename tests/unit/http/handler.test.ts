import { describe, expect, test } from "bun:test";
import { notFound } from "@ostiary/lib/domain/errors";
import { createHandler, httpApp, listQuery, noQuery, pageRequest } from "@ostiary/lib/runtime/http";
import { StoreUnavailable } from "@ostiary/lib/runtime/stores/database";
import { createMetrics, createTracing, type Logger, type Telemetry } from "@ostiary/lib/runtime/telemetry";
import { Type } from "@sinclair/typebox";
import { telemetryConfig } from "../../support/telemetry/collector.ts";
import { recordedLog } from "../../support/telemetry/recorded-log.ts";

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };
const untraced = await createTracing({ name: "toy", namespace: "toy" }, telemetryConfig(), silent);

/** Returns a service with a route for each kind of response, and the log lines of the service. */
function toyService(requestIdOnResponse = true, bodyBytesMax = 1000) {
  const { log, lines } = recordedLog();
  const telemetry: Telemetry = {
    log,
    hasAccessLine: () => true,
    switchLogLevel: () => {},
    metrics: createMetrics(),
    tracing: { ...untraced, start: neverTraced },
    exportedTracing: undefined,
    observeStore: () => {},
    close: async () => {},
  };
  const body = Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 5 }),
      idp: Type.Optional(Type.Object({ issuer: Type.String() }, { additionalProperties: false })),
      nickname: Type.Optional(Type.Union([Type.String({ maxLength: 3 }), Type.Null()])),
    },
    { additionalProperties: false },
  );
  const app = httpApp({ bodyBytesMax })
    .get("/users", ({ query }) => pageRequest(query), { query: listQuery })
    .post("/users", ({ status }) => status(201, { ok: true }), { body })
    .get("/users/:user_id", ({ params }) => params)
    .delete("/users/:user_id", () => new Response(null, { status: 204 }))
    .get("/missing", () => {
      throw notFound("user", "u1");
    })
    .get("/broken", () => {
      throw new Error("select secret from table");
    })
    .get("/away", () => {
      throw new StoreUnavailable("database", new Error("connection refused"));
    })
    .get(
      "/wrong-shape",
      ({ set }) => {
        set.headers.etag = '"5"';
        return { id: 5 };
      },
      { response: { 200: Type.Object({ id: Type.Number({ maximum: 1 }) }) } },
    )
    .guard({ query: noQuery }, (inside) =>
      inside.get("/plain", () => ({})).get("/plain/list", ({ query }) => query, { query: listQuery }),
    );
  const health = { draining: false };
  const handler = createHandler(app, { telemetry, health, requestIdOnResponse });
  const call = (method: string, path: string, init: RequestInit = {}) =>
    handler(new Request(`http://h${path}`, { ...init, method }));
  return { call, lines, telemetry, health };
}

function neverTraced(): never {
  throw new Error("Tracing is off.");
}

async function errorOf(response: Response): Promise<unknown> {
  expect(response.headers.get("content-type")).toStartWith("application/json");
  const body: unknown = await response.json();
  return typeof body === "object" && body !== null && "error" in body ? body.error : body;
}

describe("an error response", () => {
  const cases: [string, string, RequestInit, number, string][] = [
    ["GET", "/nowhere", {}, 404, "NOT_FOUND"],
    ["GET", "/missing", {}, 404, "NOT_FOUND"],
    ["PUT", "/users", {}, 405, "METHOD_NOT_ALLOWED"],
    ["POST", "/users", { body: "{" }, 400, "INVALID_REQUEST"],
    ["POST", "/users", { body: new Uint8Array([0x22, 0xff, 0x22]) }, 400, "INVALID_REQUEST"],
    ["POST", "/users", { body: "x".repeat(1001) }, 413, "PAYLOAD_TOO_LARGE"],
    ["POST", "/users", {}, 422, "VALIDATION_ERROR"],
    ["GET", "/users/%zz", {}, 404, "NOT_FOUND"],
    ["GET", "/broken", {}, 500, "INTERNAL_ERROR"],
    ["GET", "/wrong-shape", {}, 500, "INTERNAL_ERROR"],
    ["GET", "/away", {}, 503, "SERVICE_UNAVAILABLE"],
  ];
  // ER-1, ER-7, ER-12
  test.each(cases)("to %s %s %p has status %i and code %s", async (method, path, init, status, code) => {
    const response = await toyService().call(method, path, init);
    expect(response.status).toBe(status);
    const request_id = response.headers.get("x-request-id") ?? "";
    expect(await errorOf(response)).toMatchObject({ code, request_id });
  });

  // ER-10
  test("of status 405 lists the allowed methods, and HEAD wherever GET is allowed", async () => {
    const response = await toyService().call("PATCH", "/users/u1");
    expect(response.headers.get("allow")).toBe("DELETE, GET, HEAD");
  });

  // ER-8
  test("lists every wrong field with its path and its rule", async () => {
    const body = JSON.stringify({ name: "longer", idp: {}, nickname: 5, role: "x" });
    const response = await toyService().call("POST", "/users", { body });
    expect(await errorOf(response)).toMatchObject({
      message: "The request is not valid.",
      details: {
        fields: expect.arrayContaining([
          { path: "name", message: "name must be a string of 1 to 5 characters." },
          { path: "idp.issuer", message: "idp.issuer is required and must be a string." },
          { path: "nickname", message: "nickname must be a string of at most 3 characters or null." },
          { path: "role", message: "role is not a known field: remove the field." },
        ]),
      },
    });
  });

  // ER-13
  test("refuses a body that is nested more than 64 levels deep before its fields are checked", async () => {
    const nested = (depth: number) => `{"name":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
    const paths = [];
    for (const body of [nested(64), nested(65), nested(400), "[".repeat(800)]) {
      const response = await toyService().call("POST", "/users", { body });
      expect(response.status).toBe(422);
      paths.push(await errorOf(response));
    }
    const deep = {
      message: "The body is nested more than 64 levels deep: flatten it.",
      details: { fields: [{ path: "" }] },
    };
    expect(paths).toMatchObject([{ details: { fields: [{ path: "name" }] } }, deep, deep, deep]);
  });

  test("refuses query parameters that neither the operation nor its guard declares", async () => {
    const { call } = toyService();
    const statuses = [];
    for (const path of ["/plain", "/plain?a=1", "/plain/list?limit=1", "/plain/list?a=1"]) {
      statuses.push((await call("GET", path)).status);
    }
    expect(statuses).toEqual([200, 422, 200, 422]);
  });

  // ER-6
  test("has no headers of the response that it replaces", async () => {
    expect((await toyService().call("GET", "/wrong-shape")).headers.get("etag")).toBeNull();
  });

  // ER-17
  test("does not contain the cause, which is only in the log", async () => {
    const { call, lines } = toyService();
    const text = await (await call("GET", "/broken")).text();
    expect(text).not.toContain("select");
    const fields = { error_kind: "internal", error_message: "select secret from table" };
    expect(lines).toMatchObject([{ level: "error", message: "request failed", fields }]);
  });

  // ER-18
  test("for a response with a wrong shape is logged with the path in the response, not with its values", async () => {
    const { call, lines } = toyService();
    await call("GET", "/wrong-shape");
    const told = "The response does not match its schema at /id: Expected number to be less or equal to 1.";
    expect(lines).toMatchObject([{ level: "error", fields: { error_message: told } }]);
  });
});

describe("request ids", () => {
  // ER-5
  test("an incoming id is kept, also in the log line", async () => {
    const { call, lines } = toyService();
    const response = await call("GET", "/users/u1", { headers: { "X-Request-ID": "abc-1" } });
    expect(response.headers.get("x-request-id")).toBe("abc-1");
    expect(lines).toMatchObject([
      { fields: { request_id: "abc-1", route: "/users/{user_id}", status: 200 } },
    ]);
  });

  // ER-5
  test.each(["", "a b", "x".repeat(129)])("%p is replaced", async (value) => {
    const response = await toyService().call("GET", "/users/u1", { headers: { "X-Request-ID": value } });
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("a service behind the gateway sets no id on its responses", async () => {
    const response = await toyService(false).call("GET", "/users/u1");
    expect(response.headers.get("x-request-id")).toBeNull();
  });
});

// OP-31
test("all responses close the connection while the service drains, and no response does before", async () => {
  const { call, health } = toyService();
  const connections = async () => {
    const responses = await Promise.all([
      call("GET", "/plain"),
      call("GET", "/away"),
      call("GET", "/nowhere"),
    ]);
    return responses.map(({ status, headers }) => [status, headers.get("connection")]);
  };
  expect(await connections()).toEqual([[200, null], [503, null], [404, null]]); // biome-ignore format: a table
  health.draining = true;
  expect(await connections()).toEqual([[200, "close"], [503, "close"], [404, "close"]]); // biome-ignore format: a table
});

// OP-24
test("responses have Cache-Control: no-store, unless they set their own value", async () => {
  const { call } = toyService();
  for (const path of ["/users", "/missing", "/nowhere", "/broken", "/users?limit=x"]) {
    expect((await call("GET", path)).headers.get("cache-control")).toBe("no-store");
  }
  const app = httpApp({ bodyBytesMax: 10 }).get(
    "/page",
    () => new Response("a page", { headers: { "Cache-Control": "max-age=60" } }),
  );
  const { telemetry, health } = toyService();
  const handler = createHandler(app, { telemetry, health, requestIdOnResponse: false });
  const page = await handler(new Request("http://h/page"));
  expect(page.headers.get("cache-control")).toBe("max-age=60");
});
