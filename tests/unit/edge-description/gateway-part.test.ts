/** Tests of the edge description for services that have no description of their own. */
import { describe, expect, test } from "bun:test";
import { lintProblems } from "../../support/http/description-lint.ts";
import { DocumentValidator, operationsIn } from "../../support/http/openapi.ts";
import { edgeDocument } from "./build.ts";

const url = "http://widgets:8080";
const routes = (...all: object[]) => ({ routes: all });
const one = (scope: string, route: object, more: object = {}) => {
  const document = edgeDocument({ widgets: { url, ...more, [scope]: routes(route) } });
  const [operation] = operationsIn(document);
  if (operation === undefined) throw new Error("The edge description has no operation.");
  return operation;
};
const statuses = (scope: string, route: object, more?: object) =>
  Object.keys(one(scope, route, more).responses).filter((status) => status !== "2XX");

// RG-93
describe("the errors of an operation are exactly those of its route", () => {
  const unlimited = { rate_limit: false };
  test.each<[string, string, string, object, string]>([
    ["a public, unlimited GET", "public", "GET /a", unlimited, "500 502"],
    ["a public GET with a rate limit", "public", "GET /a", {}, "429 500 502 503"],
    ["a public GET with a param", "public", "GET /{a}", unlimited, "400 500 502"],
    ["a public POST", "public", "POST /a", unlimited, "408 413 500 502"],
    ["an unlimited GET of scope user", "user", "GET /a", unlimited, "401 429 500 502 503"],
    [
      "a GET of scope user with labels, which are not checked",
      ...(["user", "GET /a", { required_labels: ["x"] }, "401 429 500 502 503"] as const),
    ],
    [
      "a GET of scope organization with labels",
      ...(["organization", "GET /a", { required_labels: ["x"] }, "401 403 429 500 502 503"] as const),
    ],
    ["a member's DELETE with a param", "member", "DELETE /a/{b}", {}, "400 401 408 413 429 500 502 503"],
  ])("%s", (_, scope, name, constraints, expected) => {
    const [method, path] = name.split(" ");
    expect(statuses(scope, { path, methods: [method], ...constraints }).join(" ")).toBe(expected);
  });

  test("each error has an example with its code, which matches its schema", () => {
    const document = edgeDocument({
      widgets: { url, organization: routes({ path: "/{a}", methods: ["PUT"], required_labels: ["x", "y"] }) },
    });
    const validator = new DocumentValidator(document);
    const shared: Record<string, unknown> = Reflect.get(document.components, "responses");
    const [operation] = operationsIn(document);
    const codes = Object.entries(operation?.responses ?? {}).flatMap(([status, response]) => {
      const ref: unknown = Reflect.get(response, "$ref");
      const whole = typeof ref === "string" ? shared[String(ref.split("/").at(-1))] : response;
      const { schema = {}, examples = {} } = Object(whole).content?.["application/json"] ?? {};
      return Object.entries<{ value: unknown }>(examples).map(([code, { value }]) => {
        expect(validator.problems(schema, value)).toEqual([]);
        expect(value).toMatchObject({ error: { code } });
        return [status, code, Object(value).error.details];
      });
    });
    expect(codes).toEqual([
      ["400", "INVALID_REQUEST", null],
      ["401", "UNAUTHORIZED", null],
      [
        "403",
        "FORBIDDEN",
        {
          permission: "required_labels",
          resource: "route",
          resource_id: "/{a}",
          required_labels: ["x", "y"],
        },
      ],
      ["408", "REQUEST_TIMEOUT", null],
      ["413", "PAYLOAD_TOO_LARGE", { max_size_bytes: 10_485_760 }],
      ["429", "RATE_LIMITED", { retry_after_seconds: 10 }],
      ["500", "INTERNAL_ERROR", null],
      ["502", "SERVICE_UNAVAILABLE", null],
      ["503", "SERVICE_UNAVAILABLE", null],
    ]);
  });
});

// RG-93
test.each([
  ["X-RateLimit-Limit", 1],
  ["X-RateLimit-Remaining", 0],
  ["X-RateLimit-Reset", 0],
  ["Retry-After", 0],
])("the header %s is at least %d", (name, minimum) => {
  const { components } = edgeDocument({ widgets: { url, user: routes({ path: "/a", methods: ["GET"] }) } });
  expect(Object(components).headers[name].schema).toEqual({ type: "integer", minimum });
});

describe("an operation shows", () => {
  // RG-93
  test.each([
    ["public", []],
    ["user", [{ PersonToken: [] }, { PersonKey: [] }]],
    ["organization", [{ MemberKey: [] }, { MemberSession: [] }]],
    ["member", [{ MemberKey: [] }, { MemberSession: [] }]],
  ])("which credentials scope %s accepts", (scope, security) => {
    expect(one(scope, { path: "/a", methods: ["GET"] })).toMatchObject({ security, "x-scope": scope });
  });

  // RG-93
  test.each([
    [false, false, "**Limit:** none."],
    [undefined, { default: true, per: "organization" }, "`X-RateLimit-Limit` states for each organization."],
    [
      { requests: 5, window_seconds: 60 },
      { requests: 5, window_seconds: 60, per: "organization" },
      "5 requests in 60 s for each organization.",
    ],
    [
      "burst",
      { requests: 3, window_seconds: 10, per: "organization", policy: "burst", shared: true },
      "counted together for all routes with the policy `burst` in every service.",
    ],
    [
      ["monthly", { requests: 2, window_seconds: 5 }],
      {
        limits: [
          { policy: "monthly", requests: 9, period: "month" },
          { policy: null, requests: 2, window_seconds: 5 },
        ],
        plans: {
          free: [{ policy: null, requests: 2, window_seconds: 5 }],
        },
        per: "organization",
      },
      "9 requests a month and 2 requests in 5 s; 2 requests in 5 s with the plan `free`",
    ],
    [
      "planned",
      { limits: [{ policy: "planned", requests: 3, period: "day" }], plans: { free: [] } },
      "3 requests a day; no limit with the plan `free`",
    ],
  ])("its rate limit: %j", (rate_limit, shown, words) => {
    const policies = {
      rate_limits: {
        burst: { requests: 3, window_seconds: 10, shared: true },
        monthly: { requests: 9, period: "month", plans: { free: false } },
        planned: { requests: 3, period: "day", plans: { free: false } },
      },
    };
    const operation = one(
      "organization",
      { path: "/a", methods: ["GET"], ...(rate_limit !== undefined && { rate_limit }) },
      policies,
    );
    expect(operation).toMatchObject({ "x-rate-limit": shown });
    expect(operation.description).toContain(words);
    const headers = Object.keys(operation.responses["2XX"]?.headers ?? {});
    expect(headers).toEqual([
      "X-Request-ID",
      ...(shown === false ? [] : ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]),
    ]);
  });

  // RG-93
  test.each<[string, object, string[], unknown]>([
    ["none by default", {}, [], "#/components/responses/PayloadTooLarge"],
    ["a timeout", { timeout_ms: 90_000 }, ["begins within 90 s"], "#/components/responses/PayloadTooLarge"],
    ["a size", { max_body_bytes: 1 }, ["**Largest body:** 1 bytes."], 1],
    ["no limit", { max_body_bytes: 0 }, ["**Largest body:** unlimited."], undefined],
  ])("the bounds of its calls: %s", (_, bounds, words, maximum) => {
    for (const [own, service] of [
      [bounds, {}],
      [{}, bounds],
    ]) {
      const operation = one("public", { path: "/a", methods: ["POST"], ...own }, service);
      const lines = operation.description.split("\n").filter((line) => /Largest body|Time:/.test(line));
      expect(lines).toEqual(words.map((each) => expect.stringContaining(each)));
      const refusal = Object(operation.responses["413"]);
      const example = refusal.content?.["application/json"].examples.PAYLOAD_TOO_LARGE.value;
      expect(refusal.$ref ?? example?.error.details.max_size_bytes).toBe(maximum);
    }
  });

  // RG-93
  test("the labels of which a member needs one", () => {
    const operation = one("member", { path: "/a", methods: ["GET"], required_labels: ["x", "y"] });
    expect(operation).toMatchObject({ "x-required-labels": ["x", "y"] });
    expect(operation.description).toContain("one of `x`, `y`, or `*`");
  });
});

// RG-93
test.each([
  ["POST", { content: { "*/*": {} } }],
  ["DELETE", undefined],
  ["GET", undefined],
])("a %s has a param that is not empty, and the body %j", (method, requestBody) => {
  const operation = one("public", { path: "/a/{b}", methods: [method] });
  expect<unknown>(operation.requestBody).toEqual(requestBody);
  const schema = { type: "string", minLength: 1 };
  expect<unknown>(operation.parameters).toEqual([{ name: "b", in: "path", required: true, schema }]);
});

// RG-92
test("an OPTIONS route is not an operation, because the gateway itself responds to OPTIONS requests", () => {
  const document = edgeDocument({ a: { url, public: routes({ path: "/a", methods: ["OPTIONS", "GET"] }) } });
  expect(operationsIn(document).map(({ method }) => method)).toEqual(["GET"]);
});

test("paths that differ only in the names of their params are merged into one path", () => {
  const document = edgeDocument({
    a: { url, user: routes({ path: "/w/{id}/x", methods: ["GET"] }) },
    b: { url, user: routes({ path: "/w/{widget_id}/x", methods: ["DELETE"] }) },
    c: { url, user: routes({ path: "/w/{x}", methods: ["GET"] }) },
  });
  expect(Object.keys(document.paths)).toEqual(["/w/{id}/x", "/w/{x}"]);
  const item = document.paths["/w/{id}/x"];
  expect(Object.keys(item ?? {}).sort()).toEqual(["delete", "get"]);
  expect(item?.delete?.parameters?.map(({ name }) => name)).toEqual(["id"]);
});

test("operation ids are unique, even for similar paths", () => {
  const paths = ["/a-b", "/a_b", "/a/b", "/a.b", "/{a}", "/by-a", "/", "/root"];
  const document = edgeDocument({
    a: { url, public: routes(...paths.map((path) => ({ path, methods: ["GET"] }))) },
  });
  const ids = operationsIn(document).map(({ operationId }) => operationId.toLowerCase());
  expect(new Set(ids).size).toBe(paths.length);
});

test("the description of every kind of route passes a linter", async () => {
  const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
  const each = (scope: string) => routes({ path: `/${scope}/{x}`, methods, required_labels: ["x"] });
  const scopes = ["public", "user", "organization", "member"];
  const document = edgeDocument({
    a: { url, ...Object.fromEntries(scopes.map((scope) => [scope, each(scope)])) },
  });
  const ours = /^(info-license|tag-description)/;
  expect((await lintProblems(JSON.stringify(document))).filter((problem) => !ours.test(problem))).toEqual([]);
  expect(operationsIn(document)).toHaveLength(4 * 6);
});
