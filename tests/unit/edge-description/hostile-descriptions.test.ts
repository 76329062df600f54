import { expect, test } from "bun:test";
import { ServiceDescription } from "@ostiary/lib/edge-description";
import fc from "fast-check";
import { lintProblems } from "../../support/http/description-lint.ts";
import { operationsIn } from "../../support/http/openapi.ts";
import { runs } from "../../support/runs.ts";
import { wordsOf } from "../../support/words.ts";
import { edgeDocument } from "./build.ts";

const KEYS = wordsOf(`
  get post parameters requestBody responses content application/json schema $ref name in description summary
  tags operationId headers examples example type properties items allOf anyOf enum required pattern
  discriminator nullable exclusiveMinimum minimum additionalProperties not mapping propertyName
  200 404 default 5XX value style explode __proto__ constructor x
  toString valueOf toJSON hasOwnProperty length text/plain
`);
const TEXTS = [
  ..."path query header object string array #/components/schemas/A #/components/schemas/B".split(" "),
  ...["#/paths", "#", "https://x", "(", "", "id", "X-API-Key", "form", "\ud800", "</script>"],
];

/** Random JSON made of OpenAPI keywords, so that it reaches deep into the code that reads descriptions. */
const { value } = fc.letrec<{ value: unknown; object: unknown; list: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "medium", withCrossShrink: true },
    fc.constantFrom(...TEXTS),
    fc.constantFrom(null, true, false, 0, -1, 1.5),
    tie("object"),
    tie("list"),
  ),
  object: fc
    .array(fc.tuple(fc.constantFrom(...KEYS), tie("value")), { maxLength: 6 })
    .map((entries) => Object.fromEntries(entries)),
  list: fc.array(tie("value"), { maxLength: 4 }),
}));

const media = fc.record({ schema: value, example: value, examples: value }, { requiredKeys: ["schema"] });
const content = fc.oneof(
  ...["application/json", "text/plain"].map((type) => fc.record({ [type]: media })),
  value,
);
const responses = fc.record({ 200: fc.record({ description: value, headers: value, content }), 404: value });
const parameter = fc.record({
  name: value,
  in: fc.constantFrom("query", "path"),
  schema: value,
  style: value,
});

const operation = fc.record(
  {
    parameters: fc.array(fc.oneof(parameter, value)),
    requestBody: fc.oneof(fc.record({ required: value, content }), value),
    responses: fc.oneof(responses, value),
    summary: value,
    tags: value,
    operationId: value,
  },
  { requiredKeys: [] },
);
const document = fc.record({
  openapi: fc.constantFrom("3.0.3", "3.1.0"),
  servers: value,
  tags: value,
  paths: fc.record({
    "/w/{id}": fc.record({ parameters: value, get: fc.oneof(operation, value), post: operation }),
    "/o/{org}/w": fc.oneof(value, fc.record({ get: operation, put: operation })),
  }),
  components: fc.oneof(fc.record({ schemas: fc.record({ A: value, B: value }) }), value),
});

const routes = [
  { path: "/w/{key}", upstream: "/w/{path.key}", methods: ["GET", "POST", "HEAD"] },
  { path: "/org/w", upstream: "/o/{subject.organization_id}/w", methods: ["GET", "PUT"] },
];
const services = { widgets: { url: "http://widgets:8080", organization: { routes } } };

/** Matches linter problems that make the edge description invalid as OpenAPI. */
const INVALID =
  /^(struct|no-unresolved-refs|operation-operationId|path-|no-identical|security-defined|no-undefined)/;

// RG-96
test("no description of a service makes the edge description invalid", async () => {
  await fc.assert(
    fc.asyncProperty(document, async (given) => {
      const made = edgeDocument(services, { widgets: given });
      expect(operationsIn(made)).toHaveLength(5);
      const problems = await lintProblems(JSON.stringify(made));
      expect(problems.filter((problem) => INVALID.test(problem))).toEqual([]);
    }),
    { numRuns: runs(50) },
  );
}, 120_000);

/** The members that every object inherits, and those that conversions of a value read. */
const INHERITED = [...Object.getOwnPropertyNames(Object.prototype), "toJSON", "then", "length"];
const MEDIA_TYPES = ["application/json", "text/plain", "multipart/form-data", "image/png", "*/*"];

// RG-96
test("no name that objects inherit makes the edge description fail, in any place of a description", () => {
  for (const name of INHERITED)
    for (const given of [1, {}]) {
      const hostile = JSON.parse(`{${JSON.stringify(name)}: ${JSON.stringify(given)}}`);
      for (const example of [hostile, [hostile]]) {
        const schema = { type: "object", properties: hostile, default: example, required: [name] };
        const each = { schema, example, examples: hostile };
        const content = Object.fromEntries(MEDIA_TYPES.map((type) => [type, each]));
        const parameters = [{ name, in: "query", required: true, schema, example, examples: hostile }];
        const responses = {
          200: { description: "Fine.", headers: { [name]: { schema, example } }, content },
        };
        for (const first of MEDIA_TYPES) {
          const requestBody = { content: { [first]: each, ...content } };
          const get = { parameters, responses, tags: [name], operationId: name };
          const paths = { "/w/{id}": { get, post: { ...get, requestBody } }, [`/${name}`]: hostile };
          const components = { schemas: { [name]: schema, ...hostile } };
          const made = edgeDocument(services, { widgets: { openapi: "3.1.0", paths, components } });
          expect(operationsIn(made)).toHaveLength(5);
        }
      }
    }
});

test("a JSON value that is not an OpenAPI description is refused", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (given) => {
      expect(() => ServiceDescription.read(given).next()).toThrow();
    }),
  );
});
