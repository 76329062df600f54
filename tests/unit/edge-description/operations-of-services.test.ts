import { describe, expect, test } from "bun:test";
import { edgeDescription, type KnownDescription, ServiceDescription } from "@ostiary/lib/edge-description";
import { type OpenApiDocument, operationsIn } from "../../support/http/openapi.ts";
import { resultOf, tableOf } from "./build.ts";
import { described, json, merged, ok, onlyOperation, url, WIDGET } from "./described-services.ts";

describe("an operation is found by the method and path that the gateway calls", () => {
  const OWN = "/organizations/{subject.organization_id}";
  const IT = { summary: "It" };
  const gets = (...paths: string[]) =>
    described(Object.fromEntries(paths.map((path) => [path, { get: IT }])));
  test.each<[string, { path: string; upstream?: string; methods?: string[] }, object, boolean]>([
    ["the same path", { path: "/w/{id}" }, gets("/w/{id}"), true],
    ["other names of params", { path: "/w/{id}" }, gets("/w/{key}"), true],
    [
      "the rewritten path",
      { path: "/org/w/{id}", upstream: `${OWN}/w/{path.id}` },
      gets("/organizations/{org}/w/{key}"),
      true,
    ],
    ["not the path before a rewrite", { path: "/org/w", upstream: `${OWN}/w` }, gets("/org/w"), false],
    ["not another method", { path: "/w" }, described({ "/w": { post: IT } }), false],
    ["not a literal in place of the route's param", { path: "/w/{id}" }, gets("/w/me"), false],
    ["not a path in another case", { path: "/w" }, gets("/W"), false],
    ["not a path with a trailing slash", { path: "/w" }, gets("/w/"), false],
    ["a param in place of the route's literal", { path: "/w/me" }, gets("/w/{id}"), true],
    [
      "a literal rather than a param",
      { path: "/w/me" },
      described({ "/w/{id}": { get: { summary: "Any" } }, "/w/me": { get: IT } }),
      true,
    ],
    [
      "the one of two equal paths that has the method",
      { path: "/w/{id}" },
      described({ "/w/{a}": { post: {} }, "/w/{b}": { get: IT } }),
      true,
    ],
    [
      "a param within a segment",
      { path: "/f/{name}", upstream: "/f/{path.name}.json" },
      gets("/f/{file}.json"),
      true,
    ],
    [
      "the path after the path of the server URL",
      { path: "/w", upstream: "/api/v1/w" },
      described({ "/w": { get: IT } }, { servers: [{ url: "https://example.com/api/v1/" }] }),
      true,
    ],
    ["HEAD as GET", { path: "/w", methods: ["HEAD"] }, gets("/w"), true],
    [
      "a path item behind a reference",
      { path: "/w" },
      described(
        { "/w": { $ref: "#/components/pathItems/W" } },
        { components: { pathItems: { W: { get: IT } } } },
      ),
      true,
    ],
  ])("%s", (_, route, document, found) => {
    expect(onlyOperation(merged(route, document)).summary === "It").toBe(found);
  });
});

// RG-96
test("params that the gateway fills in are left out, and the others have the names of the route", () => {
  const parameters = [
    { name: "org", in: "path", required: true, schema: { type: "string" } },
    { name: "key", in: "path", required: true, description: "The widget.", schema: { type: "integer" } },
    { name: "verbose", in: "query", schema: { type: "boolean" } },
    { name: "X-API-Key", in: "header", schema: { type: "string" } },
    { name: "X-Platform-Audit-Details", in: "header", schema: { type: "string" } },
    { name: "X-Tenant", in: "header", schema: { type: "string" } },
    { name: "theme", in: "cookie", schema: { type: "string" } },
  ];
  const document = described({ "/o/{org}/w/{key}": { parameters, get: { responses: ok } } });
  const upstream = "/o/{subject.organization_id}/w/{path.id}";
  const operation = onlyOperation(merged({ path: "/org/w/{id}", upstream }, document));
  expect(operation.parameters?.map(({ in: place, name }) => `${place} ${name}`)).toEqual([
    "path id",
    "query verbose",
    "header X-Tenant",
    "cookie theme",
  ]);
  expect(operation.parameters?.[0]).toMatchObject({
    required: true,
    description: "The widget.",
    schema: { type: "integer" },
  });
});

// RG-96
test.each<[string, object, object]>([
  ["one content, not a schema", { content: json({ type: "array" }) }, { content: json({ type: "array" }) }],
  ["the first of two contents", { content: { ...json({}), "text/plain": {} } }, { content: json({}) }],
  [
    "a style of its place",
    { style: "pipeDelimited", explode: false },
    { style: "pipeDelimited", explode: false },
  ],
  ["no style of another place", { style: "matrix" }, {}],
  ["that it is deprecated", { deprecated: true }, { deprecated: true }],
  ["not that it is not", { deprecated: false }, {}],
  ["its reserved characters", { allowReserved: true }, { allowReserved: true }],
])("a query parameter keeps %s", (_, given, kept) => {
  const parameters = [{ name: "q", in: "query", schema: { type: "string" }, ...given }];
  const operation = onlyOperation(merged({ path: "/w" }, described({ "/w": { get: { parameters } } })));
  const schema = "content" in kept ? {} : { schema: { type: "string" } };
  expect<unknown>(operation.parameters).toEqual([{ name: "q", in: "query", ...schema, ...kept }]);
});

test("an operation's own parameters replace those of its path", () => {
  const of = (description: string) => ({ name: "q", in: "query", description, schema: { type: "string" } });
  const document = described({ "/w": { parameters: [of("path")], get: { parameters: [of("operation")] } } });
  expect(onlyOperation(merged({ path: "/w" }, document)).parameters).toMatchObject([
    { name: "q", description: "operation" },
  ]);
});

// RG-96
test("bodies, responses and their headers are included, except headers that the gateway strips or sets", () => {
  const header = { schema: { type: "string" } };
  const document = described(
    {
      "/w": {
        post: {
          operationId: "createWidget",
          summary: "Create a widget",
          description: "Makes one.",
          tags: ["Widgets"],
          deprecated: true,
          security: [{ theirs: [] }],
          servers: [{ url: "http://internal:1" }],
          callbacks: { done: {} },
          requestBody: { required: true, content: json({ $ref: "#/components/schemas/Widget" }) },
          responses: {
            201: {
              description: "Created.",
              headers: {
                ETag: header,
                "X-Platform-Audit-Created": header,
                "X-Request-ID": header,
                "x-ratelimit-limit": header,
              },
              content: json({ $ref: "#/components/schemas/Widget" }),
            },
            409: {
              description: "There is one.",
              content: { "application/problem+json": { schema: WIDGET } },
            },
          },
        },
      },
    },
    { components: { schemas: { Widget: WIDGET, Unused: WIDGET } } },
  );
  const result = merged({ path: "/w", methods: ["POST"] }, document);
  const operation = onlyOperation(result);
  expect(operation).toMatchObject({
    operationId: "createWidget",
    summary: "Create a widget",
    tags: ["Widgets"],
    deprecated: true,
    security: [{ MemberKey: [] }, { MemberSession: [] }],
    requestBody: { required: true, content: json({ $ref: "#/components/schemas/WidgetsWidget" }) },
  });
  expect(operation.description).toStartWith("Makes one.\n\n**Callers:**");
  expect(operation).not.toHaveProperty("servers");
  expect(operation).not.toHaveProperty("callbacks");
  expect(Object.keys(operation.responses[201]?.headers ?? {})).toEqual([
    "ETag",
    "X-Request-ID",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
  ]);
  expect(Object.keys(operation.responses).join(" ")).toBe("201 401 408 409 413 429 500 502 503");
  expect(result.components.schemas.WidgetsWidget).toEqual(WIDGET);
  expect(Object.keys(result.components.schemas)).not.toContain("WidgetsUnused");
});

test("a status that both the service and the gateway return allows both bodies", () => {
  const theirs = { type: "object", properties: { problem: { type: "string" } } };
  const document = described({
    "/w": {
      get: {
        responses: {
          ...ok,
          401: { description: "Theirs.", content: json(theirs, { example: { problem: "x" } }) },
        },
      },
    },
  });
  const { responses } = onlyOperation(merged({ path: "/w" }, document));
  expect(responses[401]).toMatchObject({
    description: "Theirs.\n\nUNAUTHORIZED: Authentication required.",
    content: json({ anyOf: [theirs, { $ref: "#/components/schemas/ErrorResponse" }] }),
  });
  expect(Object.keys(responses[401]?.content?.["application/json"]?.examples ?? {})).toEqual([
    "example",
    "UNAUTHORIZED",
  ]);
});

test("an error of the service that says no more than the gateway's is the gateway's", () => {
  const respondedWith = (more: object) => {
    const responses = { 401: { description: "Theirs.", ...more } };
    return onlyOperation(merged({ path: "/w" }, described({ "/w": { get: { responses } } }))).responses[401];
  };
  expect<unknown>(respondedWith({})).toEqual({ $ref: "#/components/responses/Unauthorized" });
  const headers = { "X-Reason": { schema: { type: "string" } } };
  expect(respondedWith({ headers })).toMatchObject({ headers, content: { "application/json": {} } });
});

// RG-96
test("a body of the description is shown with a sample, except on a route without a body", () => {
  const operation = { requestBody: { content: { "application/json": { example: { name: "x" } } } } };
  const document = described({ "/w": { get: operation, post: operation } });
  const shown = (method: string) => onlyOperation(merged({ path: "/w", methods: [method] }, document));
  const samplesOf = (of: object) => Reflect.get(of, "x-codeSamples");
  expect(JSON.stringify(samplesOf(shown("POST")))).toContain("--data-raw");
  expect(shown("POST").requestBody).toMatchObject(operation.requestBody);
  expect(JSON.stringify(samplesOf(shown("GET")))).not.toContain("--data-raw");
  expect(shown("GET")).not.toContainAnyKeys(["requestBody", "parameters"]);
});

// RG-95
test("the result says of each service since when its description is stale, and which have none", () => {
  const read_at = "2026-01-01T00:00:00.000Z";
  const description = resultOf(ServiceDescription.read(described({ "/b": { get: { summary: "Get b" } } })));
  const table = tableOf({
    a: { url, public: { routes: [{ path: "/a", methods: ["GET"] }] } },
    b: { url, public: { routes: [{ path: "/b", methods: ["GET"] }] } },
  });
  const descriptions = new Map<string, KnownDescription>([
    ["a", { status: "missing", description: null, bytes: 0, read_at: null }],
    ["b", { status: "stale", description, bytes: 1, read_at }],
    ["c", { status: "current", description, bytes: 1, read_at }],
  ]);
  const document: OpenApiDocument = JSON.parse(
    [...edgeDescription({ title: "API", serverUrl: undefined, table, descriptions })].join(""),
  );
  expect(operationsIn(document).map(({ summary }) => summary)).toEqual(["GET /a", "Get b"]);
  expect(Reflect.get(document, "x-service-documents")).toEqual([
    { service: "a", status: "missing" },
    { service: "b", status: "stale", read_at },
    { service: "c", status: "current" },
  ]);
});
