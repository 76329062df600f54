import { describe, expect, test } from "bun:test";
import { errorResponses } from "@ostiary/lib/openapi";
import { httpApp, noQuery, openApiDescription } from "@ostiary/lib/runtime/http";
import { Type } from "@sinclair/typebox";
import { type AnyElysia, Elysia } from "elysia";

const options = {
  bodyBytesMax: 100,
  sampleOrigin: { variable: "THINGS_URL" },
  title: "T",
  description: "D",
  tags: [{ name: "Things", description: "All things." }],
};
const Thing = Type.Object(
  { kind: Type.Union([Type.Literal("a"), Type.Literal("b")], { rule: "must be a or b" }) },
  {
    title: "Plain thing",
    description: "A thing.",
    response_headers: { ETag: Type.String({ description: "Its version.", examples: ['"1"'] }) },
  },
);

// biome-ignore lint/suspicious/noExplicitAny: looked at field by field
const documentOf = (app: AnyElysia, more = {}): Promise<any> =>
  openApiDescription(app, { ...options, ...more });

const things = () =>
  httpApp({ bodyBytesMax: 100 }).use(
    new Elysia({ normalize: false })
      .post("/things/:id", ({ body }) => body, {
        params: Type.Object({ id: Type.String({ description: "Which.", examples: ["t1"] }) }),
        headers: Type.Object({ "if-match": Type.Optional(Type.String()) }),
        query: Type.Object({ deep: Type.Optional(Type.Boolean({ rule: "must be true or false" })) }),
        body: Thing,
        response: { 200: Thing, 204: Type.Void({ description: "None." }), ...errorResponses("NOT_FOUND") },
        detail: { operationId: "makeThing", summary: "Make", tags: ["Things"] },
      })
      .get("/things", () => ({ things: [] }), {
        response: { 200: Type.Object({ things: Type.Array(Thing) }, { description: "All." }) },
        detail: { operationId: "listThings" },
      })
      .get("/hidden", () => "", { detail: { hide: true } }),
  );

describe("the OpenAPI description", () => {
  test("contains a titled schema once, and refers to it", async () => {
    const { components, paths } = await documentOf(things());
    const reference = { $ref: "#/components/schemas/PlainThing" };
    expect(components.schemas.PlainThing).toEqual({
      type: "object",
      title: "Plain thing",
      description: "A thing.",
      required: ["kind"],
      properties: { kind: { type: "string", enum: ["a", "b"] } },
    });
    const post = paths["/things/{id}"].post;
    expect(post.requestBody).toEqual({
      required: true,
      content: { "application/json": { schema: reference } },
    });
    expect(post.responses[200].content).toEqual({
      "application/json": { schema: reference, example: { kind: "a" } },
    });
    expect(paths["/things"].get.responses[200].content["application/json"].schema.properties).toEqual({
      things: { type: "array", items: reference },
    });
  });

  test("describes responses by their schemas, without content if there is no body", async () => {
    const { paths } = await documentOf(things());
    const { responses } = paths["/things/{id}"].post;
    expect(responses[200]).toMatchObject({
      description: "A thing.",
      headers: { ETag: { description: "Its version.", schema: { type: "string" }, example: '"1"' } },
    });
    expect(responses[204]).toEqual({ description: "None." });
    expect(responses[404].description).toBe("NOT_FOUND: Resource not found.");
    expect(responses[404].content["application/json"].schema).toEqual({
      $ref: "#/components/schemas/ErrorResponse",
    });
  });

  test("names parameters as they are sent, with an example and without rules", async () => {
    const { paths } = await documentOf(things());
    expect(paths["/things/{id}"].post.parameters).toEqual([
      { name: "If-Match", in: "header", required: false, schema: { type: "string" } },
      {
        name: "id",
        in: "path",
        required: true,
        description: "Which.",
        schema: { type: "string" },
        example: "t1",
      },
      { name: "deep", in: "query", required: false, schema: { type: "boolean" } },
    ]);
  });

  test("describes the rules of the guards around an operation", async () => {
    const id = Type.Object({ id: Type.String({ description: "Which." }) });
    const part = Type.Object({ part: Type.String({ description: "Which part." }) });
    const guarded = new Elysia({ normalize: false }).guard(
      { params: id, query: noQuery, response: errorResponses("NOT_FOUND", "VALIDATION_ERROR") },
      (app) =>
        app.get("/things/:id/:part", () => ({ kind: "a" as const }), {
          params: part,
          response: { 200: Thing },
        }),
    );
    const { paths } = await documentOf(httpApp({ bodyBytesMax: 100 }).use(guarded));
    const { parameters, responses } = paths["/things/{id}/{part}"].get;
    expect(parameters).toMatchObject([
      { name: "id", in: "path", required: true, description: "Which." },
      { name: "part", in: "path", required: true, description: "Which part." },
    ]);
    expect(Object.keys(responses)).toEqual(["200", "404", "422"]);
    const { examples } = responses[422].content["application/json"];
    expect(examples.VALIDATION_ERROR.value.error.details.fields).toMatchObject([{ path: "verbose" }]);
  });
});
