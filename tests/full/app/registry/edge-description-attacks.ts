/** Hostile descriptions of services. Each tries to make one step of building the edge description expensive. */
import { described, json, ok } from "../../../unit/edge-description/described-services.ts";

export interface Attack {
  readonly paths: readonly string[];
  readonly document: () => object;
  /** Whether the edge description leaves out a part of the document because it is too large. */
  readonly left_out: boolean;
}

const range = (count: number) => Array.from({ length: count }, (_, n) => n);
const members = (count: number, member: (n: number) => [string, unknown]) =>
  Object.fromEntries(range(count).map(member));
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const strings = (count: number) => members(count, (n) => [`p${n}`, { type: "string" }]);

/** Returns a suffix of `-` and `.`, which generated names drop, so that the names collide. */
const punctuation = (n: number) => n.toString(2).padStart(14, "0").replaceAll("0", "-").replaceAll("1", ".");
const ONE = ["/w"];
const manyRoutes = (count = 3_000) => range(count).map((n) => `/w/x${n}`);

/** Returns a description with one operation whose response has `schema`, and with `schemas` as components. */
const respondingWith = (schemas: object, schema: object) =>
  described({ "/w": { get: { responses: responsesOf(schema) } } }, { components: { schemas } });
const responsesOf = (schema: object) => ({ 200: { description: "Fine.", content: json(schema) } });

/** Returns a description with one operation. Its path matches all routes of {@link manyRoutes}. */
const shared = (operation: object, components: object = {}, item: object = {}) =>
  described({ "/w/{id}": { get: { responses: ok, ...operation }, ...item } }, { components });

/** Returns schemas that each combine at most `size` of the `refs`, so that no single schema is too large. */
const inGroups = (refs: readonly object[], size: number) =>
  members(Math.ceil(refs.length / size), (n) => [`G${n}`, { anyOf: refs.slice(n * size, (n + 1) * size) }]);
const allOfGroups = (groups: object) => ({ anyOf: Object.keys(groups).map(ref) });

/** Returns different references to one schema, by which of its letters are percent-escaped. */
function spellings(name: string, count: number): object[] {
  return range(count).map((n) =>
    ref(
      [...name].map((each, bit) => ((n >> bit) & 1 ? `%${each.charCodeAt(0).toString(16)}` : each)).join(""),
    ),
  );
}

/** Returns 8192 paths: all combinations of a literal or a param in each of thirteen segments. */
const ambiguousPaths = (end: string, item: object) =>
  members(8_192, (n) => [
    `/w/${[...n.toString(2).padStart(13, "0")].map((bit) => (bit === "1" ? "a" : "{p}")).join("/")}/${end}`,
    item,
  ]);
const deepRoutes = (depth: number) => range(3_000).map((n) => `/w/${"a/".repeat(depth)}x${n}`);

function nestedSchemas(): object {
  let schema: object = { type: "object", properties: strings(20_000) };
  for (const _ of range(25)) schema = { properties: { n: schema } };
  const refs = range(26).map((depth) => ref(`A${"/properties/n".repeat(depth)}`));
  return respondingWith({ A: schema }, { anyOf: refs });
}

function oneWord(): object {
  const names = range(18_000).map((n) => `A${punctuation(n)}`);
  const groups = inGroups(names.map(ref), 500);
  const named = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
  return respondingWith({ ...groups, ...named }, allOfGroups(groups));
}

function percentAliases(): object {
  const groups = inGroups(spellings("abcdefghijklmno", 4_000), 200);
  return respondingWith(
    { abcdefghijklmno: { type: "object", properties: strings(20_000) }, ...groups },
    allOfGroups(groups),
  );
}

function manyKeysByReference(): object {
  const groups = inGroups(
    range(20_000).map(() => ref("B")),
    1_000,
  );
  return respondingWith({ ...groups, B: members(50_000, (n) => [`k${n}`, 1]) }, allOfGroups(groups));
}

const platformErrors = {
  responses: { E: { description: "E", content: json(ref("E")) } },
  schemas: { E: { properties: { error: { properties: members(50_000, (n) => [`k${n}`, 1]) } } } },
};

export const attacks: Readonly<Record<string, Attack>> = {
  "18 000 schemas whose names reduce to one word": { paths: ONE, document: oneWord, left_out: false },
  "a chain of 30 000 references": {
    paths: ONE,
    document: () =>
      respondingWith(
        members(30_000, (n) => [`A${n}`, { allOf: [ref(`A${n + 1}`)] }]),
        ref("A0"),
      ),
    left_out: false,
  },
  "references to a schema with 50 000 keywords": {
    paths: ONE,
    document: manyKeysByReference,
    left_out: true,
  },
  "thousands of spellings of one reference": { paths: ONE, document: percentAliases, left_out: true },
  "references to each level of a large schema": { paths: ONE, document: nestedSchemas, left_out: true },
  "3 000 routes by 8 192 paths that nearly serve each": {
    paths: deepRoutes(12),
    document: () => described(ambiguousPaths("zz", { get: { responses: ok } })),
    left_out: true,
  },
  "50 000 parameters of a path that serves 3 000 routes": {
    paths: manyRoutes(),
    document: () =>
      shared(
        {},
        { parameters: { P: { name: "q", in: "query" } } },
        { parameters: range(50_000).map(() => ({ $ref: "#/components/parameters/P" })) },
      ),
    left_out: true,
  },
  "800 parameters, all in the samples of 3 000 routes": {
    paths: manyRoutes(),
    document: () =>
      shared({ parameters: range(800).map((n) => ({ name: `p${n}`, in: "query", required: true })) }),
    left_out: true,
  },
  "200 errors that nearly have the platform's form": {
    paths: manyRoutes(),
    document: () =>
      shared(
        { responses: members(199, (n) => [String(400 + n), { $ref: "#/components/responses/E" }]) },
        platformErrors,
      ),
    left_out: true,
  },
  "400 responses of 10 000 headers": {
    paths: manyRoutes(),
    document: () =>
      shared(
        { responses: members(400, (n) => [String(200 + n), { $ref: "#/components/responses/R" }]) },
        { responses: { R: { description: "R", headers: members(10_000, (n) => [`X-${n}`, {}]) } } },
      ),
    left_out: true,
  },
  "a body of 190 schemas with 50 000 properties each": {
    paths: manyRoutes(),
    document: () =>
      shared(
        { requestBody: { content: json({ properties: members(190, (n) => [`p${n}`, ref("B")]) }) } },
        { schemas: { B: { required: ["none"], properties: members(50_000, (n) => [`k${n}`, 1]) } } },
      ),
    left_out: true,
  },
};
