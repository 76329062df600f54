import { describe, expect, test } from "bun:test";
import { type OpenApiDocument, operationsIn } from "../../support/http/openapi.ts";
import { ADMIN_TOKEN, useRegistry } from "./bed.ts";

const registry = useRegistry();

const OTHERS = [
  ...["GET /nowhere", "PATCH /services", "OPTIONS /apply", "GET /metrics", "GET /health/ready"],
  ...["GET /swagger.json", "GET /swaggers", "GET /Swagger"],
];

describe("without the admin token", () => {
  // RG-1
  test("every operation and every unknown path is 401 before any other check", async () => {
    const document: OpenApiDocument = (await registry.call("GET", "/swagger/json")).body;
    const operations = operationsIn(document).map(({ method, path }) => `${method} ${path}`);
    const open = ["GET /schema/routes.json"];
    expect(operations).toEqual(expect.arrayContaining(open));
    for (const endpoint of [...operations.filter((each) => !open.includes(each)), ...OTHERS]) {
      const [method = "", path = ""] = endpoint.split(" ");
      const response = await fetch(registry.url + path.replace(/\{\w+\}/g, "1"), {
        method,
        body: method === "PUT" ? "{" : undefined,
      });
      expect([endpoint, response.status, response.headers.get("www-authenticate")]).toEqual([
        endpoint,
        401,
        "Bearer",
      ]);
      expect(await response.json()).toMatchObject({
        error: {
          type: "invalid_request_error",
          code: "UNAUTHORIZED",
          message: "Authentication required.",
          details: null,
        },
      });
    }
  });

  // RG-2
  test.each(["/swagger", "/swagger/json", "/swagger/assets/swagger-ui.css"])(
    "%s needs no token",
    async (path) => {
      expect((await fetch(`${registry.url}${path}`)).status).toBe(200);
    },
  );
});

describe("the admin token", () => {
  // RG-1
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
