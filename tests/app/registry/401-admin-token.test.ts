import { describe, expect, test } from "bun:test";
import { ProcessEnded, rejection, startProcess } from "../../support/index.ts";
import { useRegistry } from "./bed.ts";
import { ADMIN_TOKEN } from "./harness.ts";

const registry = useRegistry();

const endpoints = [
  ["POST", "/apply"],
  ["GET", "/services"],
  ["GET", "/services/a"],
  ["PUT", "/services/a"],
  ["DELETE", "/services/a"],
  ["GET", "/services/a/revisions"],
  ["GET", "/services/a/revisions/1"],
  ["GET", "/services/a/revisions/1/diff/2"],
  ["POST", "/services/a/revisions/1/restore"],
  ["GET", "/routes?method=GET&path=/"],
  ["GET", "/nowhere"],
  ["PATCH", "/services"],
  ["OPTIONS", "/apply"],
  ["GET", "/metrics"],
  ["GET", "/health/ready"],
  ["GET", "/swagger.json"],
  ["GET", "/swaggers"],
  ["GET", "/Swagger"],
] as const;

describe("without the admin token", () => {
  test.each(endpoints)("%s %s is 401, before anything else", async (method, path) => {
    const response = await fetch(`${registry.url}${path}`, {
      method,
      body: method === "PUT" ? "{" : undefined,
    });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(await response.json()).toMatchObject({
      error: {
        type: "invalid_request_error",
        code: "UNAUTHORIZED",
        message: "Authentication required.",
        details: null,
      },
    });
  });

  test.each(["/swagger", "/swagger/json", "/swagger/assets/swagger-ui.css"])("%s is open", async (path) => {
    expect((await fetch(`${registry.url}${path}`)).status).toBe(200);
  });
});

describe("the admin token", () => {
  test.each([
    `Bearer ${ADMIN_TOKEN}x`,
    `Bearer ${ADMIN_TOKEN.slice(0, -1)}`,
    `Bearer ${ADMIN_TOKEN.toUpperCase()}`,
    "Bearer",
    "Bearer ",
    `Basic ${ADMIN_TOKEN}`,
    ADMIN_TOKEN,
    `Bearer ${ADMIN_TOKEN} ${ADMIN_TOKEN}`,
    `Bearer x, Bearer ${ADMIN_TOKEN}`,
  ])("is not accepted as %j", async (Authorization) => {
    const response = await fetch(`${registry.url}/services`, { headers: { Authorization } });
    expect(response.status).toBe(401);
  });

  test.each([`Bearer ${ADMIN_TOKEN}`, `bearer ${ADMIN_TOKEN}`, `BEARER  ${ADMIN_TOKEN}`])(
    "is accepted as %j",
    async (Authorization) => {
      const response = await fetch(`${registry.url}/services`, { headers: { Authorization } });
      expect(response.status).toBe(200);
    },
  );
});

describe("a start", () => {
  test.each([undefined, "", "two words", "not-ascii-é"])("with ADMIN_TOKEN %j is refused", async (token) => {
    const env = { DATABASE_URL: "pglite://memory", ROUTE_STORE_URL: "http://127.0.0.1:1" };
    const ended = await rejection(
      startProcess("apps/registry/main.ts", token === undefined ? env : { ...env, ADMIN_TOKEN: token }),
    );
    expect(ended).toBeInstanceOf(ProcessEnded);
    expect(ended).toMatchObject({ exit_code: 78 });
    expect(String(ended)).toContain("ADMIN_TOKEN");
    if (token) expect(String(ended)).not.toContain(token);
  });

  test("with several wrong variables names all of them", async () => {
    const ended = await rejection(
      startProcess("apps/registry/main.ts", {
        DATABASE_URL: "mysql://secret@db",
        ROUTE_STORE_URL: "etcd",
        MAX_BODY_BYTES: "lots",
        RECONCILE_INTERVAL_MS: "0",
        SWAGGER_ENABLED: "no",
      }),
    );
    expect(ended).toMatchObject({ exit_code: 78 });
    for (const variable of [
      "DATABASE_URL",
      "ROUTE_STORE_URL",
      "ADMIN_TOKEN",
      "MAX_BODY_BYTES",
      "RECONCILE_INTERVAL_MS",
      "SWAGGER_ENABLED",
    ]) {
      expect(String(ended)).toContain(variable);
    }
    expect(String(ended)).not.toContain("secret");
  });

  test("alone with a route store in memory is refused with the reason", async () => {
    const ended = await rejection(
      startProcess("apps/registry/main.ts", {
        DATABASE_URL: "pglite://memory",
        ROUTE_STORE_URL: "memory://",
        ADMIN_TOKEN,
      }),
    );
    expect(ended).toMatchObject({ exit_code: 78 });
    expect(String(ended)).toContain("no other process can read");
  });
});
