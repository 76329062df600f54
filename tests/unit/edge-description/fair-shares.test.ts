import { describe, expect, test } from "bun:test";
import { type OpenApiDocument, operationsIn } from "../../support/http/openapi.ts";
import { edgeDocument } from "./build.ts";
import { described, json, ok } from "./described-services.ts";

const range = (count: number) => Array.from({ length: count }, (_, n) => n);
const sizeOf = (value: unknown) => JSON.stringify(value).length;
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const serviceAt = (name: string, count: number) => ({
  url: `http://${name}:8080`,
  organization: {
    routes: range(count).map((n) => ({ path: `/${name}/x${n}`, methods: ["GET"] })),
  },
});

/** A description of ordinary operations, each with a schema of its own. */
function ordinary(name: string, count: number): object {
  const paths = range(count).map((n) => [
    `/${name}/x${n}`,
    {
      get: { summary: `Get ${n}`, responses: { 200: { description: "Fine.", content: json(ref(`S${n}`)) } } },
    },
  ]);
  const schemas = range(count).map((n) => [
    `S${n}`,
    { type: "object", properties: { [`p${n}`]: { type: "string" } } },
  ]);
  return described(Object.fromEntries(paths), { components: { schemas: Object.fromEntries(schemas) } });
}

/** One long operation that describes every route of its service. */
const greedy = (name: string, length: number) =>
  described({ [`/${name}/{any}`]: { get: { description: "d".repeat(length), responses: ok } } });

const summaries = (document: OpenApiDocument, name: string) =>
  operationsIn(document)
    .filter(({ path }) => path.startsWith(`/${name}/`))
    .map((operation) => Reflect.get(operation, "summary"));
const left_out = (document: OpenApiDocument): Record<string, number> =>
  Object.fromEntries(
    Reflect.get(document, "x-service-documents").map(
      ({ service, left_out: count = 0 }: Record<string, unknown>) => [service, count],
    ),
  );

// RG-105, RG-158
describe("the descriptions of greedy services", () => {
  test.each([
    [9, 200, 220_000],
    [60, 40, 100_000],
  ])(
    "%d services with %d routes and %d characters leave the others whole, and the result small",
    (count, routes, length) => {
      const names = range(count).map((n) => `greedy${n}`);
      const services = { ordinary: serviceAt("ordinary", 50), zebra: serviceAt("zebra", 20) };
      const descriptions = { ordinary: ordinary("ordinary", 50), zebra: ordinary("zebra", 20) };
      const all = {
        ...services,
        ...Object.fromEntries(names.map((name) => [name, serviceAt(name, routes)])),
      };
      const given = {
        ...descriptions,
        ...Object.fromEntries(names.map((name) => [name, greedy(name, length)])),
      };
      const [alone, made] = [edgeDocument(services, descriptions), edgeDocument(all, given)];
      for (const name of ["ordinary", "zebra"]) {
        expect(summaries(made, name)).toEqual(summaries(alone, name));
        expect(left_out(made)[name]).toBe(0);
        expect(left_out(made).greedy0).toBeGreaterThan(0);
      }
      expect(made.components.schemas).toMatchObject(alone.components.schemas ?? {});
      expect(sizeOf(made) - sizeOf(edgeDocument(all))).toBeLessThan(
        3 * sizeOf(given) + 2_048 * operationsIn(made).length,
      );
    },
  );
});

// RG-105, RG-158
describe("a description that exceeds its share", () => {
  test("keeps whole operations: all schemas that they reference are there", () => {
    const schemas = Object.fromEntries(
      range(300).map((n) => [`S${n}`, { type: "object", properties: { [`p${n}`]: { type: "string" } } }]),
    );
    const parameters = range(40).map((n) => ({ name: `q${n}`, in: "query", description: "d".repeat(500) }));
    const paths = Object.fromEntries(
      range(300).map((n) => [
        `/w/x${n}`,
        {
          get: {
            parameters: [{ $ref: "#/components/parameters/All" }],
            responses: { 200: { description: "", content: json(ref(`S${n}`)) } },
          },
        },
      ]),
    );
    for (const [index, path] of Object.values(paths).entries()) {
      path.get.parameters = range(40).map((n) => ({ $ref: `#/components/parameters/P${(n + index) % 40}` }));
    }
    const document = described(paths, {
      components: { schemas, parameters: Object.fromEntries(parameters.map((each, n) => [`P${n}`, each])) },
    });
    const made = edgeDocument({ w: serviceAt("w", 300) }, { w: document });
    const shown = operationsIn(made).filter((operation) => JSON.stringify(operation).includes("/schemas/W"));
    expect(shown.length).toBeGreaterThan(3);
    expect(shown.length).toBeLessThan(300);
    const copied = Object.entries(made.components.schemas ?? {}).filter(([name]) => name.startsWith("WS"));
    expect(copied).toHaveLength(shown.length);
    for (const [, schema] of copied) expect(Object.keys(schema)).toEqual(["type", "properties"]);
  });

  test.each<[string, object]>([
    [
      "references that fan out at each of 25 levels",
      Object.fromEntries(range(25).map((n) => [`A${n}`, { allOf: range(8).map(() => ref(`A${n + 1}`)) }])),
    ],
    [
      "references in circles",
      Object.fromEntries(
        range(25).map((n) => [`A${n}`, { properties: { a: ref(`A${(n + 1) % 25}`), b: ref("A0") } }]),
      ),
    ],
  ])("adds at most three times its size for %s", (_, schemas) => {
    const operation = { get: { responses: { 200: { description: "", content: json(ref("A0")) } } } };
    const document = described({ "/w/{any}": operation }, { components: { schemas } });
    const services = { w: serviceAt("w", 400) };
    const added = sizeOf(edgeDocument(services, { w: document })) - sizeOf(edgeDocument(services));
    expect(added).toBeLessThan(3 * sizeOf(document) + 2_048 * 400);
  });
});
