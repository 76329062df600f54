/**
 * Describes the configuration document as JSON Schema, for editors (RG-91).
 *
 * The schema comes from the TypeBox schema that checks documents. It adds the rules between fields and inside texts
 * that JSON Schema can express; the README lists the other rules. The schema is draft-07, which all editors
 * support. Patterns mean the same in every dialect, because they use neither look-ahead nor back-references. Strict
 * validators accept the schema: each keyword is standard, and stands beside the `type` to which it applies.
 */
import { isRecord } from "@ostiary/lib/domain/json";
import {
  CONSTRAINTS,
  ConfigDocument,
  PARAM_NAME_LENGTH_MAX,
  PATH_PARAMS_MAX,
  SCOPES,
  type Scope,
  SUBJECT_FIELDS,
} from "@ostiary/lib/domain/routes";
import { type JsonObject, mapValues, OpenApiSchemas } from "@ostiary/lib/openapi";

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
    $id: "urn:ostiary:routes.schema.json",
    ...withRules(document, { properties: { services: { propertyNames: { not: { enum: [".", ".."] } } } } }),
    definitions,
  };
}

/** Returns the text of the schema. The registry serves it, and `seeds/` contains a copy. */
export function documentSchemaText(): string {
  return `${JSON.stringify(documentSchema(), null, 2)}\n`;
}

/** Adds `rules` to a schema. Rules for a property are added to the schema of this property. */
function withRules(schema: JsonObject, { properties = {}, ...rules }: Rules): JsonObject {
  const own = Object(schema.properties);
  const ruled = Object.entries(properties).map(([name, added]) => [name, bothOf(own[name], added)]);
  return {
    ...schema,
    ...rules,
    ...(ruled.length > 0 && { properties: { ...own, ...Object.fromEntries(ruled) } }),
  };
}

/**
 * Combines a schema with rules in an `allOf`. The description stays outside of the `allOf`, where editors look for
 * it. The description ends with `details`, which explains the rules.
 */
function bothOf(
  schema: JsonObject,
  { description, details, default: fallback, ...rules }: JsonObject,
): JsonObject {
  const { description: own, examples, ...checked } = schema;
  const words = [description ?? own, details].filter((each) => each !== undefined).join(" ");
  const described = { description: words, examples, default: fallback };
  return Object.keys(rules).length === 0
    ? { ...described, ...checked }
    : { ...described, allOf: [checked, typed(rules)] };
}

/** The JSON type to which each keyword applies. */
const TYPES: Readonly<Record<string, string>> = {
  pattern: "string",
  properties: "object",
  required: "object",
  additionalProperties: "object",
  propertyNames: "object",
  items: "array",
};

/** Adds the `type` to which the keywords of a rule apply, to the rule and to the rules inside it. */
function typed(rule: JsonObject): JsonObject {
  const inside = Object.entries(rule).map(([keyword, value]) => {
    if (Array.isArray(value)) return [keyword, value.map((each) => (isRecord(each) ? typed(each) : each))];
    if (!isRecord(value)) return [keyword, value];
    const isMap = keyword === "properties";
    return [
      keyword,
      isMap ? mapValues(value, (each) => (isRecord(each) ? typed(each) : each)) : typed(value),
    ];
  });
  const types = Object.keys(rule).flatMap((keyword) => TYPES[keyword] ?? []);
  return { ...(types[0] !== undefined && { type: types[0] }), ...Object.fromEntries(inside) };
}

/** Applies a rule to objects only; other values pass. */
const ofObjects = (rule: JsonObject) => ({ anyOf: [{ not: { type: "object" } }, rule] });

interface Rules extends JsonObject {
  properties?: Record<string, JsonObject>;
}

const FIELDS = [...new Set(SCOPES.flatMap((scope) => [...SUBJECT_FIELDS[scope]]))];
const NAME = `[A-Za-z_][A-Za-z0-9_]{0,${PARAM_NAME_LENGTH_MAX - 1}}`;
/** The characters that URL parsing leaves unchanged in a path, without upper case. */
const CHARACTERS = "!$&'()*+,.0-9:;=@_a-z|~\\[\\]-";
const ESCAPE = "%[0-9A-Fa-f]{2}";
const SEGMENT = `([${CHARACTERS}]|%[0-9a-f]{2})+`;
const PATH = `(/(\\{${NAME}\\}|${SEGMENT}))+`;
const UPSTREAM_SEGMENT = `([A-Z${CHARACTERS}]|${ESCAPE}|\\{path\\.${NAME}\\}|\\{subject\\.(${FIELDS.join("|")})\\})+`;
const DOT_SEGMENT = "/(\\.|%2[Ee]){1,2}(/|$)";

const path = {
  pattern: `^(/|${PATH})$`,
  not: { anyOf: [{ pattern: DOT_SEGMENT }, { pattern: `(\\{[^{]*){${PATH_PARAMS_MAX + 1}}` }] },
  details:
    "A path is /, or segments that each begin with /: a {param}, or text in lower case. It has no trailing slash. Everything but visible ASCII is percent-encoded.",
};

const upstream = {
  pattern: `^(/|(/${UPSTREAM_SEGMENT})+/?)$`,
  not: { pattern: DOT_SEGMENT },
  details:
    "upstream is an absolute path, with {path.…} for params of the route's path and {subject.…} for the owner's id.",
};

const route_prefix = {
  pattern: `^(${PATH})?/*$`,
  not: path.not,
  details: "route_prefix is a path such as /org.",
};

const PORT = "([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])";
const BYTE = "([0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])";

const url = {
  pattern: `:${PORT}$`,
  // URL parsing reads a host whose last label is a number as an IPv4 address: such a host must have all four numbers
  anyOf: [
    { pattern: `^http://${BYTE}(\\.${BYTE}){3}:` },
    { not: { pattern: "^http://([^:]*\\.)?([0-9]+|0[Xx][0-9A-Fa-f]*)\\.?:" } },
  ],
  // a host name has at most 253 characters, not counting a final dot
  not: { pattern: "^http://[^:]{253}([^.:]|\\.[^:])" },
  details: "Write the url as http://host:port.",
};

const QUERY_CHARACTERS = "!$&()*+,./0-9:;=?@A-Z\\[\\\\\\]^_`a-z{|}~-";

const openapi = {
  pattern: `^/([A-Z/${CHARACTERS}]|${ESCAPE})*(\\?([${QUERY_CHARACTERS}]|${ESCAPE})*)?$`,
  not: { anyOf: [{ pattern: "^//" }, { pattern: "^[^?]*/(\\.|%2[Ee]){1,2}([/?]|$)" }] },
  details: "openapi is a path on the service's url, such as /openapi.json.",
};

const SCOPE_WORDS: Record<Scope, string> = {
  public: "Routes for anyone, without a credential.",
  user: "Routes to a person's own data, called with that person's token or key.",
  organization: "Routes to an organization's data, called with a key or session of one of its members.",
  member: "Routes to a member's own data, called with that member's key or session.",
};

/** Returns the rules that apply to the routes of one scope only. */
function scopeRules(scope: Scope): JsonObject {
  const own = SUBJECT_FIELDS[scope];
  const others = FIELDS.filter((field) => !own.some((each) => each === field));
  const reserved = { not: { pattern: `\\{(${own.join("|")})\\}` } };
  const ofRoute = {
    ...(own.length > 0 && { path: reserved }),
    upstream: { not: { pattern: `\\{subject\\.(${others.join("|")})\\}` } },
    ...(scope === "public" && {
      audit: false,
      methods: ofObjects({ additionalProperties: ofObjects({ properties: { audit: false } }) }),
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
    anyOf: SCOPES.map((scope) => typed({ required: [scope], properties: { [scope]: true } })),
    properties: { url, openapi, ...Object.fromEntries(SCOPES.map((scope) => [scope, scopeRules(scope)])) },
  },
  RateLimitPolicy: { properties: { shared: { default: false } } },
  ScopeConfig: { properties: { route_prefix: { ...route_prefix, default: "" } } },
  RouteConfig: {
    properties: { path, upstream },
    if: typed({ properties: { methods: { type: "array" } } }),
    // if `methods` is a map, each method has its own constraints, and the route has none
    else: typed({ properties: Object.fromEntries(CONSTRAINTS.map((field) => [field, false])) }),
  },
};
