/**
 * The configuration document as JSON Schema, for editors (contract 3, Beyond the specification). It is made from
 * the TypeBox schema by which documents are checked, with those rules added that join fields or look into texts
 * and can be said in JSON Schema; the README lists what can not. Draft-07, which all editors know. Patterns use
 * neither look-ahead nor back-references, so that they mean the same in every dialect.
 */
import {
  CONSTRAINTS,
  ConfigDocument,
  PARAM_NAME_LENGTH_MAX,
  PATH_PARAMS_MAX,
  SCOPES,
  type Scope,
  SUBJECT_FIELDS,
} from "@ostiary/lib/domain/routes";
import { type JsonObject, OpenApiSchemas } from "@ostiary/lib/runtime/http";

const DEFINITIONS = "#/definitions/";

export function documentSchema(): JsonObject {
  const schemas = new OpenApiSchemas(DEFINITIONS);
  schemas.convert(ConfigDocument);
  const { ConfigDocument: document = {}, ...definitions } = schemas.components;
  for (const [name, addition] of Object.entries(additions)) {
    definitions[name] = withRules(definitions[name] ?? {}, addition);
  }
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    ...withRules(document, { properties: { services: { propertyNames: { not: { enum: [".", ".."] } } } } }),
    definitions,
  };
}

/** The text that is served, and that is kept beside the catalogs. */
export function documentSchemaText(): string {
  return `${JSON.stringify(documentSchema(), null, 2)}\n`;
}

/** A schema that also wants `rules`, with those of a property beside that property's own. */
function withRules(schema: JsonObject, { properties = {}, ...rules }: Rules): JsonObject {
  const own = Object(schema.properties);
  const ruled = Object.entries(properties).map(([name, added]) => [name, bothOf(own[name], added)]);
  return {
    ...schema,
    ...rules,
    ...(ruled.length > 0 && { properties: { ...own, ...Object.fromEntries(ruled) } }),
  };
}

/** The words for people stay outside, where editors look for them. */
function bothOf(schema: JsonObject, { description, ...rules }: JsonObject): JsonObject {
  const { description: own, examples, ...checked } = schema;
  return { description: description ?? own, examples, allOf: [checked, rules] };
}

interface Rules extends JsonObject {
  properties?: Record<string, JsonObject>;
}

const FIELDS = [...new Set(SCOPES.flatMap((scope) => [...SUBJECT_FIELDS[scope]]))];
const NAME = `[A-Za-z_][A-Za-z0-9_]{0,${PARAM_NAME_LENGTH_MAX - 1}}`;
/** What URL parsing leaves as it is in a path, but for upper case. */
const CHARACTERS = "!$&'()*+,.0-9:;=@_a-z|~\\[\\]-";
const ESCAPE = "%[0-9A-Fa-f]{2}";
const SEGMENT = `([${CHARACTERS}]|%[0-9a-f]{2})+`;
const PATH = `(/(\\{${NAME}\\}|${SEGMENT}))+`;
const UPSTREAM_SEGMENT = `([A-Z${CHARACTERS}]|${ESCAPE}|\\{path\\.${NAME}\\}|\\{subject\\.(${FIELDS.join("|")})\\})+`;
const DOT_SEGMENT = "/(\\.|%2[Ee]){1,2}(/|$)";

const path = {
  pattern: `^(/|${PATH})$`,
  not: { anyOf: [{ pattern: DOT_SEGMENT }, { pattern: `(\\{[^{]*){${PATH_PARAMS_MAX + 1}}` }] },
  patternErrorMessage:
    "A path is / or segments, each a {param} or a literal in lower case, without a trailing slash; everything but visible ASCII is percent-encoded.",
};

const upstream = {
  pattern: `^(/|(/${UPSTREAM_SEGMENT})+/?)$`,
  not: { pattern: DOT_SEGMENT },
  patternErrorMessage:
    "upstream is an absolute path, with {path.…} for params of the route's path and {subject.…} for the owner's id.",
};

const route_prefix = {
  pattern: `^(${PATH})?/*$`,
  not: path.not,
  patternErrorMessage: "route_prefix is a path such as /org.",
};

const PORT = "([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])";
const BYTE = "([0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])";

const url = {
  pattern: `:${PORT}$`,
  // a host whose last label is a number is read as an IPv4 address, which must be written in full
  anyOf: [
    { pattern: `^http://${BYTE}(\\.${BYTE}){3}:` },
    { not: { pattern: "^http://([^:]*\\.)?([0-9]+|0[Xx][0-9A-Fa-f]*)\\.?:" } },
  ],
  // a name of more than 253 characters, without the dot that it may end with
  not: { pattern: "^http://[^:]{253}([^.:]|\\.[^:])" },
  patternErrorMessage: "Write the url as http://host:port.",
};

const QUERY_CHARACTERS = "!$&()*+,./0-9:;=?@A-Z\\[\\\\\\]^_`a-z{|}~-";

const openapi = {
  pattern: `^/([A-Z/${CHARACTERS}]|${ESCAPE})*(\\?([${QUERY_CHARACTERS}]|${ESCAPE})*)?$`,
  not: { anyOf: [{ pattern: "^//" }, { pattern: "^[^?]*/(\\.|%2[Ee]){1,2}([/?]|$)" }] },
  patternErrorMessage: "openapi is a path on the service's url, such as /openapi.json.",
};

const SCOPE_WORDS: Record<Scope, string> = {
  public: "Routes for anyone, without a credential.",
  user: "Routes to what a person owns, for that person's token or key.",
  organization: "Routes to what an organization owns, for the keys and sessions of its members.",
  member: "Routes to what a member owns, for that member's key or session.",
};

/** What holds for the routes of one scope only. */
function scopeRules(scope: Scope): JsonObject {
  const own = SUBJECT_FIELDS[scope];
  const others = FIELDS.filter((field) => !own.some((each) => each === field));
  const reserved = { not: { pattern: `\\{(${own.join("|")})\\}` } };
  const ofRoute = {
    ...(own.length > 0 && { path: reserved }),
    upstream: { not: { pattern: `\\{subject\\.(${others.join("|")})\\}` } },
    ...(scope === "public" && {
      audit: false,
      methods: { additionalProperties: { properties: { audit: false } } },
    }),
  };
  return {
    description: SCOPE_WORDS[scope],
    properties: {
      ...(own.length > 0 && { route_prefix: reserved }),
      routes: { items: { properties: ofRoute } },
    },
  };
}

const additions: Record<string, Rules> = {
  ServiceConfig: {
    anyOf: SCOPES.map((scope) => ({ required: [scope] })),
    properties: { url, openapi, ...Object.fromEntries(SCOPES.map((scope) => [scope, scopeRules(scope)])) },
  },
  ScopeConfig: { properties: { route_prefix } },
  RouteConfig: {
    properties: { path, upstream },
    if: { properties: { methods: { type: "array" } } },
    // with a map of methods they stand under each of them
    else: { properties: Object.fromEntries(CONSTRAINTS.map((field) => [field, false])) },
  },
};
