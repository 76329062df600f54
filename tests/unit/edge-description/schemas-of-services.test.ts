import { describe, expect, test } from "bun:test";
import { operationsIn } from "../../support/http/openapi.ts";
import { edgeDocument } from "./build.ts";
import { described, json, merged, ok, onlyOperation, responding, url } from "./described-services.ts";

describe("a schema", () => {
  const converted = (schema: object, openapi = "3.1.0") => {
    const { responses } = onlyOperation(merged({ path: "/w" }, responding(schema, { openapi })));
    return responses[200]?.content?.["application/json"]?.schema;
  };

  test.each<[string, object, object]>([
    ["nullable", { type: "string", nullable: true }, { type: ["string", "null"] }],
    ["nullable without a type", { nullable: true }, { anyOf: [{}, { type: "null" }] }],
    ["an exclusive minimum", { minimum: 1, exclusiveMinimum: true }, { exclusiveMinimum: 1 }],
    ["an example", { type: "string", example: "x" }, { type: "string", examples: ["x"] }],
  ])("of OpenAPI 3.0 is converted to JSON Schema: %s", (_, schema, expected) => {
    expect<unknown>(converted(schema, "3.0.3")).toEqual(expected);
  });

  test("loses keywords with invalid values, and internal extensions", () => {
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

  test("keeps the shortest lists and the smallest and longest values that are valid", () => {
    const schema = {
      type: ["string"],
      enum: ["a"],
      examples: ["a"],
      required: [],
      allOf: [{ minLength: 0, maxItems: 0, multipleOf: 0.5 }],
      pattern: "x".repeat(1_024),
    };
    expect<unknown>(converted(schema)).toEqual(schema);
    expect<unknown>(converted({ pattern: "x".repeat(1_025), multipleOf: 0, minLength: 0.5 })).toEqual({});
  });

  test("keeps its discriminator, with the new names of the schemas", () => {
    const mapping = { cat: "#/components/schemas/Cat", plain: "Cat", gone: "#/x" };
    const choice = {
      oneOf: [{ $ref: "#/components/schemas/Cat" }],
      discriminator: { propertyName: "kind", mapping },
    };
    const document = responding(choice, { components: { schemas: { Cat: { type: "object" } } } });
    const $ref = "#/components/schemas/WidgetsCat";
    expect<unknown>(onlyOperation(merged({ path: "/w" }, document)).responses[200]?.content).toEqual(
      json({
        oneOf: [{ $ref }],
        discriminator: { propertyName: "kind", mapping: { cat: $ref, plain: $ref } },
      }),
    );
  });
});

describe("the size limit", () => {
  test("leaves out only the operation that is too large", () => {
    const get = (description: string) => ({ get: { summary: "It", description, responses: ok } });
    const routes = ["/long", "/short"].map((path) => ({ path, methods: ["GET"] }));
    const result = edgeDocument(
      { widgets: { url, user: { routes } } },
      { widgets: described({ "/long": get("x".repeat(300_000)), "/short": get("x") }) },
    );
    expect(operationsIn(result).map(({ summary }) => summary)).toEqual(["GET /long", "It"]);
    expect(result).toMatchObject({ "x-service-documents": [{ service: "widgets", left_out: 1 }] });
  });
});
