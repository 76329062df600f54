/** What the document takes over from the documents of services. */
import { describe, expect, test } from "bun:test";
import { type OpenApiDocument, operationsIn } from "../../support/openapi.ts";
import { lintFindings } from "../../support/swagger-page.ts";
import { edgeDocument } from "./build.ts";

const url = "http://widgets:8080";
const ok = { 200: { description: "Fine." } };
const described = (paths: object, more: object = {}) => ({
  openapi: "3.1.0",
  info: { title: "Widgets", version: "1" },
  paths,
  ...more,
});
const WIDGET = { type: "object", properties: { name: { type: "string" } } };
const json = (schema: object, more: object = {}) => ({ "application/json": { schema, ...more } });

/** One organization route and what its service says of it. */
function merged(route: { path: string; upstream?: string; methods?: string[] }, document: object) {
  const routes = [{ methods: ["GET"], ...route }];
  return edgeDocument({ widgets: { url, organization: { routes } } }, { widgets: document });
}

function onlyOperation(document: OpenApiDocument) {
  const [operation] = operationsIn(document);
  if (operation === undefined) throw new Error("There is no operation.");
  return operation;
}

describe("an operation is found by the method and path that the gateway calls", () => {
  const OWN = "/organizations/{subject.organization_id}";
  test.each<[string, { path: string; upstream?: string; methods?: string[] }, object, boolean]>([
    ["the same path", { path: "/w/{id}" }, described({ "/w/{id}": { get: { summary: "It" } } }), true],
    [
      "other names of params",
      { path: "/w/{id}" },
      described({ "/w/{key}": { get: { summary: "It" } } }),
      true,
    ],
    [
      "the rewritten path",
      { path: "/org/w/{id}", upstream: `${OWN}/w/{path.id}` },
      described({ "/organizations/{org}/w/{key}": { get: { summary: "It" } } }),
      true,
    ],
    [
      "not the path before it was rewritten",
      { path: "/org/w", upstream: `${OWN}/w` },
      described({ "/org/w": { get: { summary: "It" } } }),
      false,
    ],
    ["not another method", { path: "/w" }, described({ "/w": { post: { summary: "It" } } }), false],
    [
      "not a param for a literal",
      { path: "/w/{id}" },
      described({ "/w/me": { get: { summary: "It" } } }),
      false,
    ],
    ["not another case", { path: "/w" }, described({ "/W": { get: { summary: "It" } } }), false],
    ["not a slash more", { path: "/w" }, described({ "/w/": { get: { summary: "It" } } }), false],
    ["a literal for a param", { path: "/w/me" }, described({ "/w/{id}": { get: { summary: "It" } } }), true],
    [
      "a literal before a param",
      { path: "/w/me" },
      described({ "/w/{id}": { get: { summary: "Any" } }, "/w/me": { get: { summary: "It" } } }),
      true,
    ],
    [
      "one of two spellings that has the method",
      { path: "/w/{id}" },
      described({ "/w/{a}": { post: {} }, "/w/{b}": { get: { summary: "It" } } }),
      true,
    ],
    [
      "a part of a segment",
      { path: "/f/{name}", upstream: "/f/{path.name}.json" },
      described({ "/f/{file}.json": { get: { summary: "It" } } }),
      true,
    ],
    [
      "the path behind that of the server",
      { path: "/w", upstream: "/api/v1/w" },
      described({ "/w": { get: { summary: "It" } } }, { servers: [{ url: "https://example.com/api/v1/" }] }),
      true,
    ],
    ["HEAD as GET", { path: "/w", methods: ["HEAD"] }, described({ "/w": { get: { summary: "It" } } }), true],
    [
      "a path item elsewhere in the document",
      { path: "/w" },
      described(
        { "/w": { $ref: "#/components/pathItems/W" } },
        { components: { pathItems: { W: { get: { summary: "It" } } } } },
      ),
      true,
    ],
  ])("%s", (_, route, document, found) => {
    expect(onlyOperation(merged(route, document)).summary === "It").toBe(found);
  });
});

test("ids that the gateway fills in are left out, and the others have the route's names", () => {
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

test("an operation's own parameters stand in the place of its path's", () => {
  const of = (description: string) => ({ name: "q", in: "query", description, schema: { type: "string" } });
  const document = described({ "/w": { parameters: [of("path")], get: { parameters: [of("operation")] } } });
  expect(onlyOperation(merged({ path: "/w" }, document)).parameters).toMatchObject([
    { name: "q", description: "operation" },
  ]);
});

test("bodies, responses and their headers are taken over, but for headers that the gateway strips or sets", () => {
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
  expect(Object.keys(operation.responses)).toEqual([
    "201",
    "401",
    "408",
    "409",
    "413",
    "429",
    "500",
    "502",
    "503",
  ]);
  expect(result.components.schemas.WidgetsWidget).toEqual(WIDGET);
  expect(Object.keys(result.components.schemas)).not.toContain("WidgetsUnused");
});

test("a status that both may answer is either's", () => {
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
    content: json({ anyOf: [theirs, { $ref: "#/components/schemas/Error" }] }),
  });
  expect(Object.keys(responses[401]?.content?.["application/json"]?.examples ?? {})).toEqual([
    "example",
    "UNAUTHORIZED",
  ]);
});

describe("names that collide between services", () => {
  const document = (type: string) =>
    described(
      {
        [`/${type}`]: {
          get: {
            operationId: "list",
            tags: ["Things"],
            responses: { 200: { description: "", content: json({ $ref: "#/components/schemas/Thing" }) } },
          },
        },
      },
      {
        tags: [{ name: "Things", description: `Of ${type}.` }],
        components: { schemas: { Thing: { type, title: "Thing" } } },
      },
    );
  const service = (path: string) => ({ url, user: { routes: [{ path, methods: ["GET"] }] } });

  test("stay apart: schemas, tags and ids of operations", () => {
    const result = edgeDocument(
      { "a-b": service("/string"), a: service("/number"), "a.b": service("/boolean") },
      { "a-b": document("string"), a: document("number"), "a.b": document("boolean") },
    );
    expect(result.components.schemas.AThing).toMatchObject({ type: "number" });
    const { ABThing, ABThing2 } = result.components.schemas;
    expect([ABThing?.type, ABThing2?.type].sort()).toEqual(["boolean", "string"]);
    expect(result.components.schemas.AThing).not.toHaveProperty("title");
    expect(result.tags).toMatchObject([
      { name: "Things (a)", description: "Of number." },
      { name: "Things (a-b)", description: "Of string." },
      { name: "Things (a.b)", description: "Of boolean." },
    ]);
    expect(operationsIn(result).map(({ operationId }) => operationId)).toEqual([
      "getBoolean",
      "getNumber",
      "getString",
    ]);
  });

  test("a service can not take a name of the gateway's own", () => {
    const result = edgeDocument(
      { error: service("/string") },
      {
        error: described(
          {
            "/string": {
              get: {
                responses: { 200: { description: "", content: json({ $ref: "#/components/schemas/Body" }) } },
              },
            },
          },
          { components: { schemas: { Body: { type: "string" } } } },
        ),
      },
    );
    expect(result.components.schemas.ErrorBody2).toEqual({ type: "string" });
    expect(result.components.schemas.ErrorBody).toMatchObject({ type: "object" });
  });
});

describe("references", () => {
  const answering = (schema: object, schemas: object, more: object = {}) =>
    described(
      { "/w": { get: { responses: { 200: { description: "Fine.", content: json(schema) } } } } },
      { components: { schemas, ...more } },
    );
  const schemasOf = (document: object) => {
    const { components } = merged({ path: "/w" }, document);
    return Object.fromEntries(
      Object.entries(components.schemas).filter(([name]) => name.startsWith("Widgets")),
    );
  };
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

  test("of a tree stay", () => {
    const Node = { type: "object", properties: { children: { type: "array", items: ref("Node") } } };
    expect(schemasOf(answering(ref("Node"), { Node }))).toEqual({
      WidgetsNode: {
        type: "object",
        properties: { children: { type: "array", items: { $ref: "#/components/schemas/WidgetsNode" } } },
      },
    });
  });

  test.each<[string, object]>([
    ["to itself", { A: ref("A") }],
    ["to itself by another", { A: ref("B"), B: ref("A") }],
    ["to itself in allOf", { A: { allOf: [ref("A"), { type: "object" }] } }],
    ["to itself by another's anyOf", { A: { anyOf: [ref("B")] }, B: { oneOf: [ref("A")] } }],
    ["to itself by not", { A: { not: { not: ref("A") } } }],
  ])("of a schema %s are cut", async (_, schemas) => {
    const document = merged({ path: "/w" }, answering(ref("A"), schemas));
    const findings = await lintFindings(JSON.stringify(document));
    expect(
      findings.filter((finding) => !/^(info-license|tag-description|no-illogical)/.test(finding)),
    ).toEqual([]);
  });

  test.each([
    "https://elsewhere/schema.json",
    "other.json#/a",
    "#anchor",
    "#/nowhere",
    "#",
    "#/%zz",
    "#/info/title",
  ])("to %s are left out", ($ref) => {
    const { responses } = onlyOperation(merged({ path: "/w" }, answering({ $ref }, {})));
    expect(responses[200]?.content).toMatchObject(json({}));
  });

  test("to the inside of a schema, and by the names of no component, become components", () => {
    const schemas = schemasOf(
      answering(
        { anyOf: [ref("A/properties/b"), { $ref: "#/definitions/C" }, ref("__proto__"), ref("日本")] },
        {
          A: { properties: { b: { type: "string" } } },
          ["__proto__"]: { type: "number" },
          日本: { type: "boolean" },
        },
      ),
    );
    expect(Object.values(schemas)).toContainEqual({ type: "string" });
    expect(Object.keys(schemas).every((name) => /^[A-Za-z0-9._-]+$/.test(name))).toBe(true);
  });

  test("of parameters, bodies, responses, headers and examples are followed", () => {
    const document = described(
      {
        "/w": {
          post: {
            parameters: [{ $ref: "#/components/parameters/Q" }],
            requestBody: { $ref: "#/components/requestBodies/B" },
            responses: {
              200: { $ref: "#/components/responses/R" },
              500: { $ref: "#/components/responses/Loop" },
            },
          },
        },
      },
      {
        components: {
          parameters: { Q: { name: "q", in: "query", schema: WIDGET } },
          requestBodies: {
            B: { content: json(WIDGET, { examples: { one: { $ref: "#/components/examples/E" } } }) },
          },
          examples: { E: { value: { name: "x" } } },
          headers: { H: { schema: { type: "string" } } },
          responses: {
            R: { description: "R", headers: { "X-H": { $ref: "#/components/headers/H" } } },
            Loop: { $ref: "#/components/responses/Loop" },
          },
        },
      },
    );
    const operation = onlyOperation(merged({ path: "/w", methods: ["POST"] }, document));
    expect(operation.parameters).toMatchObject([{ name: "q", schema: WIDGET }]);
    expect(operation.requestBody?.content["application/json"]).toMatchObject({
      examples: { one: { value: { name: "x" } } },
    });
    expect(operation.responses[200]).toMatchObject({
      description: "R",
      headers: { "X-H": { schema: { type: "string" } } },
    });
    expect(operation.responses[500]).toEqual(
      expect.objectContaining({ $ref: "#/components/responses/InternalError" }),
    );
  });
});

describe("a schema", () => {
  const converted = (schema: object, openapi = "3.1.0") => {
    const document = described(
      { "/w": { get: { responses: { 200: { description: "", content: json(schema) } } } } },
      { openapi },
    );
    return onlyOperation(merged({ path: "/w" }, document)).responses[200]?.content?.["application/json"]
      ?.schema;
  };

  test.each<[string, object, object]>([
    ["nullable", { type: "string", nullable: true }, { type: ["string", "null"] }],
    ["nullable of anything", { nullable: true }, { anyOf: [{}, { type: "null" }] }],
    ["a bound that is left out", { minimum: 1, exclusiveMinimum: true }, { exclusiveMinimum: 1 }],
    ["an example", { type: "string", example: "x" }, { type: "string", examples: ["x"] }],
  ])("of OpenAPI 3.0 is written as JSON Schema: %s", (_, schema, expected) => {
    expect<unknown>(converted(schema, "3.0.3")).toEqual(expected);
  });

  test("loses what is not what its keyword says", () => {
    expect(
      converted({
        type: "strnig",
        required: "name",
        enum: [],
        minLength: -1,
        pattern: "(",
        properties: { a: true, b: 1, c: { type: ["string", "string"] } },
        allOf: [],
        $id: "https://elsewhere/",
        $dynamicRef: "#x",
        "x-internal": "http://10.0.0.1",
        format: "email",
      }),
    ).toEqual({ properties: { a: {}, b: {}, c: {} }, format: "email" });
  });

  test("keeps its choices under the new names", () => {
    const document = described(
      {
        "/w": {
          get: {
            responses: {
              200: {
                description: "",
                content: json({
                  oneOf: [{ $ref: "#/components/schemas/Cat" }],
                  discriminator: {
                    propertyName: "kind",
                    mapping: { cat: "#/components/schemas/Cat", plain: "Cat", gone: "#/x" },
                  },
                }),
              },
            },
          },
        },
      },
      { components: { schemas: { Cat: { type: "object" } } } },
    );
    const $ref = "#/components/schemas/WidgetsCat";
    expect<unknown>(onlyOperation(merged({ path: "/w" }, document)).responses[200]?.content).toEqual(
      json({
        oneOf: [{ $ref }],
        discriminator: { propertyName: "kind", mapping: { cat: $ref, plain: $ref } },
      }),
    );
  });
});

describe("of a service whose words are too many", () => {
  test("one operation is left out alone", () => {
    const get = (description: string) => ({ get: { summary: "It", description, responses: ok } });
    const result = edgeDocument(
      {
        widgets: {
          url,
          user: {
            routes: [
              { path: "/long", methods: ["GET"] },
              { path: "/short", methods: ["GET"] },
            ],
          },
        },
      },
      { widgets: described({ "/long": get("x".repeat(300_000)), "/short": get("x") }) },
    );
    expect(operationsIn(result).map(({ summary }) => summary)).toEqual(["GET /long", "It"]);
    expect(result).toMatchObject({ "x-service-documents": [{ service: "widgets", left_out: 1 }] });
  });

  test("those that a thousand routes repeat are bounded", () => {
    const big = { description: "Big.", content: { "text/plain": { example: "x".repeat(200_000) } } };
    const routes = Array.from({ length: 1_000 }, (_, n) => ({ path: `/r/${n}`, methods: ["GET"] }));
    const result = edgeDocument(
      { widgets: { url, user: { routes } } },
      {
        widgets: described(
          { "/r/{n}": { get: { responses: { 200: { $ref: "#/components/responses/Big" } } } } },
          { components: { responses: { Big: big } } },
        ),
      },
    );
    expect(JSON.stringify(result).length).toBeLessThan(16_000_000);
    expect(operationsIn(result)).toHaveLength(1_000);
  });

  test("a schema that refers to itself in every property costs its own size only", () => {
    const many = Object.fromEntries(
      Array.from({ length: 500 }, (_, n) => [`p${n}`, { $ref: "#/components/schemas/A" }]),
    );
    const document = described(
      {
        "/w": { post: { requestBody: { content: json({ $ref: "#/components/schemas/A" }) }, responses: ok } },
      },
      { components: { schemas: { A: { type: "object", properties: many } } } },
    );
    expect(JSON.stringify(merged({ path: "/w", methods: ["POST"] }, document)).length).toBeLessThan(200_000);
  });

  test("a path of nothing but segments is refused", () => {
    const paths = { [`/${"/".repeat(1_000_000)}`]: { get: {} } };
    expect(() => merged({ path: "/w" }, described(paths))).toThrow("too many segments");
  });

  test("a body that requires very many fields, or is very many schemas, is sampled at small cost", () => {
    const names = Array.from({ length: 60_000 }, (_, n) => `p${n}`);
    const properties = Object.fromEntries(names.map((name) => [name, {}]));
    for (const schema of [
      { type: "object", properties, required: names },
      { allOf: names.map(() => ({})) },
    ]) {
      const post = { requestBody: { content: json(schema) }, responses: ok };
      const started = process.cpuUsage();
      merged({ path: "/w", methods: ["POST"] }, described({ "/w": { post } }));
      expect(process.cpuUsage(started).user).toBeLessThan(5_000_000);
    }
  });
});
