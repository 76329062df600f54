/**
 * The shapes of route configuration (Gateway specification, Resources and their fields): as an operator writes
 * it, and expanded, as it is stored, projected and loaded. Rules that a shape can not express are in the
 * `check-` files; {@link validateDocument} applies both.
 */
import { type Static, type TObject, Type } from "@sinclair/typebox";
import { mapOf } from "../schemas/index.ts";
import {
  LABEL_LENGTH_MAX,
  LABELS_MAX,
  PATH_BYTES_MAX,
  POLICY_NAME_LENGTH_MAX,
  RATE_LIMIT_REQUESTS_MAX,
  RATE_LIMIT_WINDOW_SECONDS_MAX,
  SERVICE_NAME_LENGTH_MAX,
  UPSTREAM_BYTES_MAX,
} from "./limits.ts";

export const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const;
export type Method = (typeof METHODS)[number];

export const SCOPES = ["public", "user", "organization", "member"] as const;
export type Scope = (typeof SCOPES)[number];

/** The owner ids that an upstream template may use, and that a path may not take for a param, by scope. */
export const SUBJECT_FIELDS = {
  public: [],
  user: ["user_id"],
  organization: ["organization_id"],
  member: ["organization_id", "member_id"],
} as const satisfies Record<Scope, readonly string[]>;
export type SubjectField = (typeof SUBJECT_FIELDS)[Scope][number];

const closed = { additionalProperties: false } as const;
const NAME_PATTERN = "^[a-z0-9:._-]+$";

export const ServiceName = Type.String({
  pattern: "^[A-Za-z0-9._-]+$",
  minLength: 1,
  maxLength: SERVICE_NAME_LENGTH_MAX,
  description: "Letters, digits, `.`, `_` and `-`.",
  examples: ["widgets"],
});

// Written out, since a union made by `map` loses its members in Elysia's types.
export const MethodName = Type.Union(
  [
    Type.Literal("GET"),
    Type.Literal("POST"),
    Type.Literal("PUT"),
    Type.Literal("PATCH"),
    Type.Literal("DELETE"),
    Type.Literal("HEAD"),
    Type.Literal("OPTIONS"),
  ],
  { title: "Method", description: "An HTTP method, in upper case." },
);

export const ScopeName = Type.Union(
  [Type.Literal("public"), Type.Literal("user"), Type.Literal("organization"), Type.Literal("member")],
  { title: "Scope", description: "Who owns what a route addresses." },
);

export const PolicyName = Type.String({
  pattern: NAME_PATTERN,
  minLength: 1,
  maxLength: POLICY_NAME_LENGTH_MAX,
  title: "PolicyName",
  description: "The name of an entry of the service's rate_limits.",
  examples: ["burst"],
});

export const Label = Type.String({
  pattern: NAME_PATTERN,
  minLength: 1,
  maxLength: LABEL_LENGTH_MAX,
  description: "A permission that a role may grant. Never `*`.",
  examples: ["widgets:write"],
});

export const RequiredLabels = Type.Array(Label, {
  minItems: 1,
  maxItems: LABELS_MAX,
  uniqueItems: true,
  description: "A member needs one of these, or `*`. Omitted: any admitted caller. Users are not checked.",
  examples: [["widgets:write", "admin"]],
});

export const RateLimitRequests = Type.Integer({
  minimum: 1,
  maximum: RATE_LIMIT_REQUESTS_MAX,
  description: "Requests admitted in one window.",
  examples: [100],
});

export const RateLimitWindow = Type.Integer({
  minimum: 1,
  maximum: RATE_LIMIT_WINDOW_SECONDS_MAX,
  description: "Length of the window in seconds. The first request opens it.",
  examples: [60],
});

export const InlineRateLimit = Type.Object(
  { requests: RateLimitRequests, window_seconds: RateLimitWindow },
  { ...closed, title: "InlineRateLimit", description: "A bucket of its own for each method of the route." },
);
export type InlineRateLimit = Static<typeof InlineRateLimit>;

const NoRateLimit = Type.Literal(false, { title: "NoRateLimit", description: "`false`: no limit." });

export const RouteRateLimit = Type.Union([NoRateLimit, InlineRateLimit, PolicyName], {
  title: "RouteRateLimit",
  description:
    "`false`: unlimited. Object: own limit. String: a policy of the service. Omitted: the default.",
  examples: [{ requests: 100, window_seconds: 60 }, "burst", false],
});
export type RouteRateLimit = Static<typeof RouteRateLimit>;

export const RateLimitPolicy = Type.Object(
  {
    requests: RateLimitRequests,
    window_seconds: RateLimitWindow,
    shared: Type.Optional(
      Type.Boolean({ description: "`true`: one bucket for all services that declare the name as shared." }),
    ),
  },
  {
    ...closed,
    title: "RateLimitPolicy",
    description: "A limit that routes share by naming it.",
    examples: [{ requests: 1000, window_seconds: 60, shared: true }],
  },
);
export type RateLimitPolicy = Static<typeof RateLimitPolicy>;

const Audit = Type.Boolean({
  description: "Omitted: POST, PUT, PATCH and DELETE are audited. Not allowed on public routes.",
});

/** What may be set for one verb. */
const verbFields = {
  required_labels: Type.Optional(RequiredLabels),
  rate_limit: Type.Optional(RouteRateLimit),
  audit: Type.Optional(Audit),
};

export const MethodConfig = Type.Object(verbFields, {
  ...closed,
  title: "MethodConfig",
  description: "What may be set for one method of a route.",
  examples: [{ required_labels: ["widgets:write"], audit: true }],
});
export type MethodConfig = Static<typeof MethodConfig>;

export const MethodList = Type.Array(MethodName, {
  title: "MethodList",
  minItems: 1,
  uniqueItems: true,
  description: "The methods that the route serves, all alike.",
  examples: [["GET", "POST"]],
});

const verbEntry = Type.Optional(
  Type.Union([MethodConfig, Type.Null()], { description: "What is set for the method; it may be empty." }),
);
export const MethodMap = Type.Object(
  {
    GET: verbEntry,
    POST: verbEntry,
    PUT: verbEntry,
    PATCH: verbEntry,
    DELETE: verbEntry,
    HEAD: verbEntry,
    OPTIONS: verbEntry,
  } satisfies Record<Method, typeof verbEntry>,
  {
    ...closed,
    title: "MethodMap",
    minProperties: 1,
    description: "The methods that the route serves, each with constraints of its own, or empty.",
    examples: [{ GET: {}, POST: { required_labels: ["widgets:write"] } }],
  },
);
export type MethodMap = Static<typeof MethodMap>;

export const RoutePath = Type.String({
  minLength: 1,
  maxLength: PATH_BYTES_MAX,
  pattern: "^/",
  description: "`/`, or segments that are literals or `{params}`, in lower case, without a trailing slash.",
  examples: ["/widgets/{widget_id}"],
});

export const UpstreamTemplate = Type.String({
  minLength: 1,
  maxLength: UPSTREAM_BYTES_MAX,
  pattern: "^/[^?#]*$",
  description:
    "The path called on the service, with `{subject.…}` and `{path.…}`. Omitted: the request's path.",
  examples: ["/organizations/{subject.organization_id}/widgets/{path.widget_id}"],
});

/** A route as written. With `methods` as a map the fields of {@link MethodConfig} stand under each verb only. */
export const RouteConfig = Type.Object(
  {
    path: RoutePath,
    upstream: Type.Optional(UpstreamTemplate),
    methods: Type.Union([MethodList, MethodMap], {
      title: "RouteMethods",
      description: "The methods that the route serves: a list, or a map with constraints for each.",
    }),
    ...verbFields,
  },
  { ...closed, title: "RouteConfig", description: "A route: a path with its methods." },
);
export type RouteConfig = Static<typeof RouteConfig>;

/** A route as stored: the full path, and methods always a list. */
export const StoredRoute = Type.Object(
  {
    path: RoutePath,
    upstream: Type.Optional(UpstreamTemplate),
    methods: MethodList,
    ...verbFields,
  },
  { ...closed, title: "StoredRoute", description: "A route in expanded form." },
);
export type StoredRoute = Static<typeof StoredRoute>;

export const ScopeConfig = Type.Object(
  {
    route_prefix: Type.Optional(
      Type.String({
        maxLength: PATH_BYTES_MAX,
        description: "Joined in front of each route's path, never of its upstream.",
        examples: ["/org"],
      }),
    ),
    routes: Type.Array(RouteConfig, { description: "The routes of the scope." }),
  },
  { ...closed, title: "ScopeConfig", description: "The routes of one scope." },
);
export type ScopeConfig = Static<typeof ScopeConfig>;

export const StoredScope = Type.Object(
  { routes: Type.Array(StoredRoute, { description: "The routes of the scope." }) },
  { ...closed, title: "StoredScope", description: "The routes of one scope, in expanded form." },
);
export type StoredScope = Static<typeof StoredScope>;

const HOST_LABEL = "[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?";
const HOST = `(${HOST_LABEL}(\\.${HOST_LABEL})*\\.?|\\[[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:.]{1,43}\\])`;

const ServiceUrl = Type.String({
  description: "Exactly `http://host:port`.",
  pattern: `^http://${HOST}:[1-9][0-9]{0,4}$`,
  examples: ["http://widgets:8080"],
});

/** Looser than what is accepted: a config of old may hold a bare `host:port` (rule 5). */
const StoredUrl = Type.String({
  description: "`http://host:port`; `host:port` in a config that was written before that was required.",
  examples: ["http://widgets:8080"],
});

const RateLimits = mapOf(PolicyName, RateLimitPolicy, {
  description: "Policies that routes of this service name in rate_limit.",
});

/** All four scopes are optional in the shape; that there is at least one is rule 7. */
const scopesOf = <T extends TObject>(scope: T) => ({
  public: Type.Optional(scope),
  user: Type.Optional(scope),
  organization: Type.Optional(scope),
  member: Type.Optional(scope),
});

/** A service as an operator writes it. */
export const ServiceConfig = Type.Object(
  { url: ServiceUrl, rate_limits: Type.Optional(RateLimits), ...scopesOf(ScopeConfig) },
  {
    ...closed,
    title: "ServiceConfig",
    description: "A service: where it runs and the routes it serves in each scope; at least one scope.",
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

/** A service as stored, projected and returned: prefixes joined, one row per verb of a map. */
export const StoredServiceConfig = Type.Object(
  { url: StoredUrl, rate_limits: Type.Optional(RateLimits), ...scopesOf(StoredScope) },
  {
    ...closed,
    title: "StoredServiceConfig",
    description: "A service in expanded form: full paths, methods always a list.",
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

/** The body of apply: the services to create or replace. */
export const ConfigDocument = Type.Object(
  {
    services: mapOf(ServiceName, ServiceConfig, {
      minProperties: 1,
      description: "Services by name. Services that are not named stay as they are.",
    }),
  },
  {
    ...closed,
    title: "ConfigDocument",
    description: "A configuration document: apply creates or replaces the services that it names.",
    examples: [{ services: { widgets: ServiceConfig.examples?.[0] } }],
  },
);
export type ConfigDocument = Static<typeof ConfigDocument>;
