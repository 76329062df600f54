/**
 * The schemas of route configuration (RG-5 to RG-8): the form that operators write, and the stored form that
 * the registry projects and gateways load. Rules between fields are in `service-rules.ts`.
 * {@link validateDocument} applies the schemas and the rules.
 */
import { type Static, type TObject, type TSchema, Type } from "@sinclair/typebox";
import { joinWords } from "../errors/index.ts";
import { closedShape, mapOf } from "../schemas/index.ts";
import { callBoundFields } from "./call-bounds.ts";
import { PolicyName, RateLimitPolicy, RouteRateLimit } from "./limit-schema.ts";
import {
  DOCUMENT_PATH_BYTES_MAX,
  LABEL_LENGTH_MAX,
  LABELS_MAX,
  PATH_BYTES_MAX,
  SERVICE_URL_LENGTH_MAX,
  UPSTREAM_BYTES_MAX,
} from "./maximum-sizes.ts";
import { CONSTRAINTS, METHODS, SCOPES } from "./methods-and-scopes.ts";
import { MethodName, ServiceName } from "./name-schemas.ts";
import { RouteTests } from "./route-test-schema.ts";
import { fieldMessage, PATH_TOO_LONG, SLUG_CHARACTERS } from "./schema-messages.ts";
import { descriptionPathMessage, serviceUrlMessage } from "./service-url.ts";

export * from "./limit-schema.ts";
export * from "./methods-and-scopes.ts";
export * from "./name-schemas.ts";
export * from "./route-test-schema.ts";

export const ScopeName = Type.Union(
  [Type.Literal("public"), Type.Literal("user"), Type.Literal("organization"), Type.Literal("member")],
  { title: "Scope", description: "The kind of owner of the data that a route addresses." },
);

const ONE_METHOD = `methods must name at least one of ${joinWords(METHODS)}.`;
const OMIT_LABELS = "leave required_labels out to let every admitted caller pass.";

const Label = Type.String({
  pattern: "^[a-z0-9:._-]+$",
  minLength: 1,
  maxLength: LABEL_LENGTH_MAX,
  message: (value: unknown) =>
    value === "*"
      ? "A route cannot require `*`, which gives a role access to every route."
      : `A label must have 1 to ${LABEL_LENGTH_MAX} ${SLUG_CHARACTERS}`,
  description: "A permission that a role may grant. Never `*`.",
  examples: ["widgets:write"],
});

/**
 * The OpenAPI keyword for unique items. `service-rules.ts` checks uniqueness, many times faster than TypeBox.
 */
const unique = { uniqueItems: true };

export const RequiredLabels = Type.Array(Label, {
  minItems: 1,
  maxItems: LABELS_MAX,
  openapi: unique,
  message: (value: unknown) => {
    if (!Array.isArray(value)) return `required_labels must be a list of labels; ${OMIT_LABELS}`;
    if (value.length === 0) return `required_labels must name at least one label; ${OMIT_LABELS}`;
    return `required_labels can have at most ${LABELS_MAX} labels.`;
  },
  description:
    "The labels that the route requires. A member needs one of them, or `*`. Without labels, every admitted caller may call. User routes check no labels.",
  examples: [["widgets:write", "admin"]],
});

const Audit = Type.Boolean({
  description:
    "Whether requests are audited. POST, PUT, PATCH and DELETE are audited by default. Public routes are never audited.",
  message: "audit must be true or false; leave audit out for the default.",
});

const verbFields = {
  required_labels: Type.Optional(RequiredLabels),
  rate_limit: Type.Optional(RouteRateLimit),
  audit: Type.Optional(Audit),
};

export const MethodConfig = Type.Object(verbFields, {
  ...closedShape("A method of a map"),
  title: "MethodConfig",
  description: "The settings of one method of a route.",
  examples: [{ required_labels: ["widgets:write"], audit: true }],
});
export type MethodConfig = Static<typeof MethodConfig>;

const MethodList = Type.Array(MethodName, {
  title: "MethodList",
  minItems: 1,
  openapi: unique,
  message: (value: unknown) =>
    Array.isArray(value) ? ONE_METHOD : fieldMessage("methods", "a list of methods")(value),
  description: "The methods that the route serves, all with the same settings.",
  examples: [["GET", "POST"]],
});

const verbEntry = Type.Union([MethodConfig, Type.Null()], {
  description: "The settings of the method. The object may be empty.",
  message: `A method of a map can have ${joinWords(CONSTRAINTS)}, or no fields.`,
});
const MethodMap = Type.Partial(Type.Record(MethodName, verbEntry), {
  additionalProperties: false,
  keys: MethodName,
  title: "MethodMap",
  minProperties: 1,
  message: ONE_METHOD,
  description: "The methods that the route serves, each with its own settings, which can be empty.",
  examples: [{ GET: {}, POST: { required_labels: ["widgets:write"] } }],
});

export const RoutePath = Type.String({
  minLength: 1,
  maxLength: PATH_BYTES_MAX,
  pattern: "^/",
  message: (value: unknown) => {
    if (typeof value === "string" && value.startsWith("/")) return PATH_TOO_LONG;
    const missing = value === undefined ? "Set path: " : "";
    return `${missing}A path must be \`/\` or start with \`/\`, such as \`/widgets/{widget_id}\`.`;
  },
  description: "`/`, or segments that are literals or `{params}`, in lower case, without a trailing slash.",
  examples: ["/widgets/{widget_id}"],
});

export const UpstreamTemplate = Type.String({
  minLength: 1,
  maxLength: UPSTREAM_BYTES_MAX,
  pattern: "^/[^?#]*$",
  message: (value: unknown) => {
    if (typeof value !== "string") {
      return "upstream must be an absolute path; leave upstream out to pass the request's path on unchanged.";
    }
    if (!value.startsWith("/")) return "upstream must be an absolute path, which starts with `/`.";
    if (value.length > UPSTREAM_BYTES_MAX) return `upstream can have at most ${UPSTREAM_BYTES_MAX} bytes.`;
    if (value.includes("?"))
      return "upstream cannot contain `?`: the query of the request is passed on unchanged.";
    return "upstream cannot contain `#`: a fragment is never sent.";
  },
  description:
    "The path that the gateway calls on the service, with `{subject.…}` and `{path.…}`. Omitted: the request's path.",
  examples: ["/organizations/{subject.organization_id}/widgets/{path.widget_id}"],
});

/**
 * A route as written. If `methods` is a map, the fields of {@link MethodConfig} appear only under each
 * method.
 */
export const RouteConfig = Type.Object(
  {
    path: RoutePath,
    upstream: Type.Optional(UpstreamTemplate),
    ...callBoundFields,
    methods: Type.Union([MethodList, MethodMap], {
      title: "RouteMethods",
      message: fieldMessage("methods", "a list of methods, or a map of them"),
      description: "The methods that the route serves: a list, or a map with settings for each method.",
    }),
    ...verbFields,
  },
  { ...closedShape("A route"), title: "RouteConfig", description: "A route: a path with its methods." },
);
export type RouteConfig = Static<typeof RouteConfig>;

/** A route as stored, with its full path. `methods` is always a list. */
export const StoredRoute = Type.Object(
  { ...RouteConfig.properties, methods: MethodList },
  { ...closedShape("A route"), title: "StoredRoute", description: "A route in stored form." },
);
export type StoredRoute = Static<typeof StoredRoute>;

const routesOf = <Route extends TObject>(route: Route) =>
  Type.Array(route, {
    description: "The routes of the scope.",
    message: fieldMessage("routes", "a list of routes"),
  });

export const ScopeConfig = Type.Object(
  {
    route_prefix: Type.Optional(
      Type.String({
        openapi: { maxLength: PATH_BYTES_MAX },
        message: "route_prefix must be a path, such as `/org`, that precedes each route's path.",
        description: "The path that precedes each route's path. It is not added to upstream templates.",
        examples: ["/org"],
      }),
    ),
    routes: routesOf(RouteConfig),
  },
  { ...closedShape("A scope"), title: "ScopeConfig", description: "The routes of one scope." },
);
export type ScopeConfig = Static<typeof ScopeConfig>;

const StoredScope = Type.Object(
  { routes: routesOf(StoredRoute) },
  {
    ...closedShape("A scope"),
    title: "StoredScope",
    description: "The routes of one scope, in stored form.",
  },
);

const HOST_LABEL = "[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?";
const HOST = `(${HOST_LABEL}(\\.${HOST_LABEL})*\\.?|\\[[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:.]{1,43}\\])`;

const ServiceUrl = Type.String({
  description: "Exactly `http://host:port`.",
  maxLength: SERVICE_URL_LENGTH_MAX,
  pattern: `^http://${HOST}:[1-9][0-9]{0,4}$`,
  message: serviceUrlMessage,
  examples: ["http://widgets:8080"],
});

/**
 * The url of a stored service. An old config may contain a bare `host:port`, which apply no longer accepts
 * (GW-24).
 */
const StoredUrl = Type.String({
  message: serviceUrlMessage,
  description: "`http://host:port`. Stored configs may also have `host:port`.",
  examples: ["http://widgets:8080"],
});

/** The path of the description on the service itself. The registry calls no other host. */
const OpenApiPath = Type.String({
  pattern: "^/[!-~]*$",
  minLength: 1,
  maxLength: DOCUMENT_PATH_BYTES_MAX,
  message: descriptionPathMessage,
  description: "The path of the service's OpenAPI description on the service's url. A query is allowed.",
  examples: ["/openapi.json"],
});

const RateLimits = mapOf(PolicyName, RateLimitPolicy, {
  message:
    "rate_limits must be a map from names to policies {requests, window_seconds or period, plans, charge, shared}.",
  description: "Policies that routes of this service name in rate_limit.",
});

/** Returns the optional properties of all four scopes. A rule requires at least one scope (RG-6). */
const scopesOf = <Scope extends TObject>(scope: Scope) =>
  Type.Partial(Type.Record(ScopeName, scope)).properties;

const serviceShape = {
  ...closedShape("A service"),
  message: `A service must be an object with url and at least one of ${joinWords(SCOPES)}.`,
};

/** A service as an operator writes it. */
export const ServiceConfig = Type.Object(
  {
    url: ServiceUrl,
    openapi: Type.Optional(OpenApiPath),
    ...callBoundFields,
    rate_limits: Type.Optional(RateLimits),
    tests: Type.Optional(RouteTests),
    ...scopesOf(ScopeConfig),
  },
  {
    ...serviceShape,
    title: "ServiceConfig",
    description: "A service: its url, and its routes in at least one scope.",
    examples: [
      {
        url: "http://widgets:8080",
        organization: {
          route_prefix: "/org",
          routes: [
            {
              path: "/widgets/{widget_id}",
              upstream: "/organizations/{subject.organization_id}/widgets/{path.widget_id}",
              methods: { GET: {}, DELETE: { required_labels: ["widgets:write"] } },
            },
          ],
        },
      },
    ],
  },
);
export type ServiceConfig = Static<typeof ServiceConfig>;

/** A service in stored form: paths include the prefix, and a map of methods is one route for each method. */
export const StoredServiceConfig = Type.Object(
  { ...ServiceConfig.properties, url: StoredUrl, ...scopesOf(StoredScope) },
  {
    ...serviceShape,
    title: "StoredServiceConfig",
    description: "A service in stored form: full paths, methods always a list.",
    examples: [
      {
        url: "http://widgets:8080",
        organization: {
          routes: [
            {
              path: "/org/widgets/{widget_id}",
              upstream: "/organizations/{subject.organization_id}/widgets/{path.widget_id}",
              methods: ["GET"],
            },
          ],
        },
      },
    ],
  },
);
export type StoredServiceConfig = Static<typeof StoredServiceConfig>;

const documentOf = <Service extends TSchema>(service: Service) =>
  Type.Object(
    {
      services: mapOf(ServiceName, service, {
        minProperties: 1,
        description: "Services by name. All other services stay unchanged.",
        message: "Set services to a map from names to services, with at least one service.",
      }),
      tests: Type.Optional(RouteTests),
    },
    {
      ...closedShape("A configuration document"),
      message: "A configuration document must be an object with services, a map from names to services.",
      title: "ConfigDocument",
      description: "A configuration document: apply creates or replaces the services that it names.",
      examples: [{ services: { widgets: ServiceConfig.examples?.[0] } }],
    },
  );

/** The body of apply: the services to create or replace. */
export const ConfigDocument = documentOf(ServiceConfig);
export type ConfigDocument = Static<typeof ConfigDocument>;

/** A schema of documents that does not check the services. */
export const DocumentOutline = documentOf(Type.Unknown());
