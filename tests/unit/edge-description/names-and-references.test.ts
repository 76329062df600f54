import { describe, expect, test } from "bun:test";
import { lintProblems } from "../../support/http/description-lint.ts";
import { operationsIn } from "../../support/http/openapi.ts";
import { edgeDocument } from "./build.ts";
import { described, json, merged, ok, onlyOperation, responding, url, WIDGET } from "./described-services.ts";

describe("names that several services use", () => {
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

  test("stay separate for schemas, tags and operations", () => {
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

  test("name the service in a tag of two services, but not in a tag of one", () => {
    const services = { a: service("/number"), b: service("/string"), c: service("/boolean") };
    const own = described({ "/boolean": { get: { tags: ["Own"], responses: ok } } });
    const result = edgeDocument(services, { a: document("number"), b: document("string"), c: own });
    expect(result.tags?.map(({ name }) => name)).toEqual(["Things (a)", "Things (b)", "Own"]);
  });

  // RG-96
  test("stay separate for tags that look like tags of another service", () => {
    const tagged = (root: string, tags: string[]) =>
      described(
        Object.fromEntries(
          tags.map((tag, at) => [`/${root}/${at}`, { get: { tags: [tag], responses: ok } }]),
        ),
        { tags: tags.map((name) => ({ name })) },
      );
    const copied = ["Things", "Things (b)", "Things (b) (a)", "(b)"];
    const user = (root: string) => ({
      user: { routes: copied.map((_, at) => ({ path: `/${root}/${at}`, methods: ["GET"] })) },
    });
    const result = edgeDocument(
      { a: { url, ...user("a") }, b: { url, ...user("b") } },
      { a: tagged("a", copied), b: tagged("b", ["Things", "Things (a)"]) },
    );
    const used = new Set(operationsIn(result).flatMap(({ tags = [] }) => tags));
    expect(used.size).toBe(copied.length + 3);
    expect(new Set(result.tags?.map(({ name }) => name))).toEqual(used);
  });

  test("a schema of a service cannot replace a schema of the gateway", () => {
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
  const respondingWith = (schema: object, schemas: object) => responding(schema, { components: { schemas } });
  const schemasOf = (document: object) => {
    const { components } = merged({ path: "/w" }, document);
    return Object.fromEntries(
      Object.entries(components.schemas).filter(([name]) => name.startsWith("Widgets")),
    );
  };
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

  test("of a recursive schema are kept", () => {
    const Node = { type: "object", properties: { children: { type: "array", items: ref("Node") } } };
    expect(schemasOf(respondingWith(ref("Node"), { Node }))).toEqual({
      WidgetsNode: {
        type: "object",
        properties: { children: { type: "array", items: { $ref: "#/components/schemas/WidgetsNode" } } },
      },
    });
  });

  test.each<[string, object]>([
    ["to itself", { A: ref("A") }],
    ["to itself through another schema", { A: ref("B"), B: ref("A") }],
    ["to itself in allOf", { A: { allOf: [ref("A"), { type: "object" }] } }],
    ["to itself through anyOf and oneOf", { A: { anyOf: [ref("B")] }, B: { oneOf: [ref("A")] } }],
    ["to itself through not", { A: { not: { not: ref("A") } } }],
  ])("of a schema %s are removed", async (_, schemas) => {
    const document = merged({ path: "/w" }, respondingWith(ref("A"), schemas));
    const problems = await lintProblems(JSON.stringify(document));
    expect(
      problems.filter(
        (problem) => !/^(info-license|tag-description|no-illogical|no-unused-components)/.test(problem),
      ),
    ).toEqual([]);
  });

  test.each([
    [2_048, true],
    [2_049, false],
  ])("of %d characters are followed: %p", (length, isFollowed) => {
    const name = "A".repeat(length - ref("").$ref.length);
    const schemas = schemasOf(respondingWith(ref(name), { [name]: { type: "number" } }));
    expect(Object.values(schemas)).toEqual(isFollowed ? [{ type: "number" }] : []);
  });

  const foreign = "https://elsewhere/schema.json other.json#/a #anchor #/nowhere # #/%zz #/info/title";
  test.each(foreign.split(" "))("to %s are left out", ($ref) => {
    const { responses } = onlyOperation(merged({ path: "/w" }, respondingWith({ $ref }, {})));
    expect(responses[200]?.content).toMatchObject(json({}));
  });

  test("to a part of a schema, and with names that are not allowed, become components", () => {
    const schemas = schemasOf(
      respondingWith(
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
