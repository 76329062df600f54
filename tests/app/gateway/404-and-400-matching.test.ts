/** Tests that the gateway calls a service with exactly the bytes of the path that it matched (GW-9). */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { publicService } from "../../support/gateway/gateway.ts";
import { type RawResponse, rawRequest, spell } from "../../support/http/raw-http.ts";
import { runs } from "../../support/runs.ts";
import { useGateway, useService } from "./bed.ts";

const service = useService();

const ROUTES = [
  { path: "/", methods: ["GET"] },
  { path: "/things", methods: ["GET", "POST"] },
  { path: "/things/{thing_id}", methods: ["GET"] },
  { path: "/things/special", methods: ["POST"] },
  { path: "/things/{thing_id}/parts/{part_id}", methods: ["GET"] },
  { path: "/files/{name}", upstream: "/store/{path.name}/raw", methods: ["GET"] },
  { path: "/a%20b/{x}", methods: ["GET"] },
  { path: "/admin/secrets", methods: ["DELETE"] },
  { path: "/docs/{page}", methods: ["GET", "HEAD", "POST"] },
  { path: "/docs/internal", methods: ["GET", "POST"] },
  { path: "/docs/caf%c3%a9", methods: ["GET"] },
] satisfies Parameters<typeof publicService>[1][];

const gateway = useGateway({}, () => ({ things: publicService(service.url, ...ROUTES) }));

async function get(
  target: string,
  method = "GET",
): Promise<{ response: RawResponse; called: string | null }> {
  const response = await rawRequest(gateway.url, spell(method, target));
  const called = service.requests.map((request) => `${request.method} ${request.target}`);
  expect(called.length).toBeLessThanOrEqual(1);
  return { response, called: called[0] ?? null };
}

// GW-8, GW-9
describe("the service is called with the path that was matched:", () => {
  const table: [target: string, called: string][] = [
    ["/", "/"],
    ["/things?a=1&b=%2F%2f&c=+&d", "/things?a=1&b=%2F%2f&c=+&d"],
    ["/things?a=/../..", "/things?a=/../.."],
    ["/things/caf%C3%A9", "/things/caf%C3%A9"],
    ["/things/caf\xc3\xa9", "/things/caf%C3%A9"],
    ["/things/a:b@c;d=e,f!$&'()*+~", "/things/a:b@c;d=e,f!$&'()*+~"],
    ["/things/%2569nternal", "/things/%2569nternal"],
    ["/files/report.pdf?v=2", "/store/report.pdf/raw?v=2"],
    ["/files/a%20b%25", "/store/a%20b%25/raw"],
    ["http://elsewhere.test/things/1", "/things/1"],
    // Dot segments are resolved before the path is matched.
    ["/x/../things", "/things"],
    ["/../../things", "/things"],
    ["/x\\..\\things", "/things"],
    ["/things/1#fragment", "/things/1"],
  ];
  test.each(table)("%s → %s", async (target, called) => {
    const result = await get(target);
    expect(result.response.status).toBe(200);
    expect(result.called).toBe(`GET ${called}`);
  });
});

// GW-15
describe("returns 404 for a path that no route can have:", () => {
  const table = [
    "/nothing",
    "/things/",
    "/things/%zz",
    "/things%2f1",
    `/things/${"x".repeat(200)}/${"y/".repeat(700)}`,
    "/x/../nothing",
  ];
  for (const target of table) {
    test(target.slice(0, 60), async () => {
      const { response, called } = await get(target);
      expect(response.status).toBe(404);
      expect(JSON.parse(response.body.toString())).toEqual({
        error: {
          type: "invalid_request_error",
          code: "NOT_FOUND",
          message: "Resource not found.",
          request_id: expect.any(String),
          details: null,
        },
      });
      expect(called).toBeNull();
    });
  }
});

// GW-16, ER-10
describe("returns 404 for a method that no route of the path has, and calls no service:", () => {
  const table: [method: string, target: string][] = [
    ["DELETE", "/things"],
    ["HEAD", "/things"],
    ["GET", "/admin/secrets"],
    ["MKCOL", "/things"],
  ];
  test.each(table)("%s %s", async (method, target) => {
    const { response, called } = await get(target, method);
    expect(response.status).toBe(404);
    expect(called).toBeNull();
  });
});

// GW-206
describe("returns 404 for another spelling of a literal beside a param, and calls no service:", () => {
  const table = [
    ...["/docs/%69nternal", "/docs/internal;x", "/docs/caf\xc3\xa9;v=1"],
    ...["/x/../docs/INTERNAL?a=1", "/DOCS/1"],
  ];
  test.each(table)("%s", async (target) => {
    for (const method of ["GET", "POST"]) {
      const { response, called } = await get(target, method);
      const isServed = method === "POST" && target.includes("/docs/") && /caf/i.test(target);
      expect([method, response.status]).toEqual([method, isServed ? 200 : 404]);
      expect(called !== null).toBe(isServed);
      service.requests.length = 0;
    }
  });
});

// GW-79
describe("returns 400 for a param that a service would not read as one segment:", () => {
  const table = [
    "/things/a%2fb",
    "/things/..%2fadmin%2fsecrets",
    "/things/..;",
    // Some services would serve /things/special.
    "/things/special;x/parts/1",
    "/things/a%00",
  ];
  test.each(table)("%s", async (target) => {
    const { response, called } = await get(target);
    expect(response.status).toBe(400);
    expect(JSON.parse(response.body.toString())).toMatchObject({ error: { code: "INVALID_REQUEST" } });
    expect(called).toBeNull();
  });
});

// GW-6, ER-16
describe("returns 400 for a Host that would make the runtime misread the URL:", () => {
  const table = ["a b", "a\\b", "user@a", "a:65536", "::1", "1.2.3.256", "a%2fb", "caf\xc3\xa9"];
  test.each(table)("%s", async (host) => {
    // With such a Host, the runtime does not resolve dot segments. The target would reach the admin route.
    const request = spell("DELETE", "/things/%2e%2e/admin/secrets", { Host: host });
    const response = await rawRequest(gateway.url, request);
    expect(response.status).toBe(400);
    expect(JSON.parse(response.body.toString())).toMatchObject({ error: { code: "INVALID_REQUEST" } });
    expect(service.requests).toEqual([]);
  });

  for (const host of ["A.Example:80", "[::1]:5001", "x_y"]) {
    test(`${host} is accepted, and the service gets its own Host`, async () => {
      const response = await rawRequest(gateway.url, spell("GET", "/things", { Host: host }));
      expect(response.status).toBe(200);
      expect(service.request.head).toContain(`Host: 127.0.0.1:${service.port}`);
    });
  }
});

// GW-6
test("the Host is checked before everything else, even before a preflight", async () => {
  const response = await rawRequest(gateway.url, spell("OPTIONS", "/things", { Host: "a b" }));
  expect(response.status).toBe(400);
});

test("5000 segments are 404, a segment of 10 000 characters is matched, and over 16 KiB the runtime returns 431", async () => {
  expect((await get(`/${"a/".repeat(5_000)}a`)).response.status).toBe(404);
  expect((await get(`/things/${"a".repeat(10_000)}`)).response.status).toBe(200);
  expect((await rawRequest(gateway.url, spell("GET", `/${"a".repeat(20_000)}`))).status).toBe(431);
});

/** A path segment, often with characters or escapes that URL parsers interpret differently. */
const segment = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("things", "admin", "secrets", "special", "parts", "files", "1") },
  {
    weight: 3,
    arbitrary: fc.constantFrom(".", "..", "%2e", "%2e%2e", "%2E.", ".%2e", "", "...", "%2e%2e%2e"),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom("%2f", "%5c", "..%2f", "%2e%2e%2f", "%252e%252e", "a%2fb", "%00", "%"),
  },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom(..."abAB19.%;:@&=+$,!~'()*_-"), maxLength: 6 }) },
);
const separator = fc.constantFrom("/", "/", "/", "//", "\\", "/./", "/../", "/%2e%2e/");
const spelling = fc
  .array(fc.tuple(separator, segment), { minLength: 1, maxLength: 6 })
  .map((parts) => parts.flat().join(""))
  .map((path) => (path.startsWith("/") ? path : `/${path}`));

// GW-9, GW-79
test("no spelling of a path makes the service serve another route than the gateway checked", async () => {
  const calls: { target: string; called: string; readings: string[]; request_id: string }[] = [];
  await fc.assert(
    fc.asyncProperty(spelling, fc.constantFrom("GET", "DELETE", "POST"), async (target, method) => {
      service.requests.length = 0;
      const response = await rawRequest(gateway.url, spell(method, target));
      const [request] = service.requests;
      expect(request !== undefined).toBe(response.status === 200);
      if (request === undefined) return;
      const readings = servedBy(request.method, request.target);
      calls.push({ target, called: request.target, readings, request_id: requestId(response) });
    }),
    { numRuns: runs(1_000) },
  );
  expect(calls.length).toBeGreaterThan(10);
  for (const call of calls) {
    const { route } = await gateway.logOf(call.request_id);
    expect(call.readings, `${call.target} was called as ${call.called}`).toContain(String(route));
  }
}, 60_000);

function requestId(response: RawResponse): string {
  return /x-request-id: (\S+)/i.exec(response.head)?.[1] ?? "";
}

/**
 * Returns the paths of the routes that a careless service would serve for `target`. This service decodes
 * escapes and then resolves dot segments.
 */
function servedBy(method: string, target: string): string[] {
  const decoded = resolved(unescaped(target));
  return ROUTES.filter((route) => {
    const template = route.upstream?.replace(/\{path\.\w+\}/g, "{}") ?? route.path;
    return route.methods.some((each) => each === method) && pattern(template).test(decoded);
  }).map((route) => route.path);
}

/** Decodes each percent escape to one byte. An escape in the result is not decoded again. */
function unescaped(target: string): string {
  return target.replace(/%([0-9a-f]{2})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

function resolved(path: string): string {
  const segments: string[] = [];
  for (const segment of path.replaceAll("\\", "/").split("/").slice(1)) {
    if (segment === "..") segments.pop();
    else if (segment !== ".") segments.push(segment);
  }
  return `/${segments.join("/")}`;
}

function pattern(template: string): RegExp {
  return new RegExp(`^${template.replace(/\{[^}]*\}/g, "[^/]+")}$`);
}
