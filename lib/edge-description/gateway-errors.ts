import { type ErrorCode, ErrorEnvelope, errorCodes, wireCode } from "../domain/errors/index.ts";
import { RATE_LIMIT_HEADERS } from "../domain/ratelimit/index.ts";
import { type CompiledRoute, DEFAULT_CALL_BOUNDS, isOfMembers } from "../domain/routes/index.ts";
import {
  type DescribedError,
  documentedEnvelope,
  errorExample,
  type JsonObject,
  OpenApiSchemas,
} from "../openapi/index.ts";

/** The error codes of the gateway on a matched route, and those of services with the platform's error format. */
const CODES: readonly ErrorCode[] = [
  ...(["INVALID_REQUEST", "UNAUTHORIZED", "FORBIDDEN", "REQUEST_TIMEOUT", "PAYLOAD_TOO_LARGE"] as const),
  ...(["RATE_LIMITED", "INTERNAL_ERROR", "BAD_GATEWAY", "SERVICE_UNAVAILABLE"] as const),
  ...(["VALIDATION_ERROR", "NOT_FOUND", "CONFLICT", "ORGANIZATION_HANDOFF_REQUIRED"] as const),
];

const schemas = new OpenApiSchemas();
/** A reference to the schema of the platform's errors. */
export const ERROR_SCHEMA = schemas.convert(documentedEnvelope(new Set(CODES)));

export const errorSchemas: Readonly<Record<string, JsonObject>> = schemas.components;

/** The fields of `error` in the platform's error format. */
export const ENVELOPE_FIELDS: ReadonlySet<string> = new Set(
  Object.keys(ErrorEnvelope.properties.error.properties),
);

const header = (description: string, schema: JsonObject, example: unknown) => ({
  description,
  schema,
  example,
});

export const gatewayHeaders: Readonly<Record<string, JsonObject>> = {
  "X-Request-ID": header(
    "The id of this request in logs and audit events. Quote the id when you ask for help.",
    { type: "string", format: "uuid" },
    "0199f4c1-7d1e-7c3a-9b1f-2f6a1c0d4e5b",
  ),
  [RATE_LIMIT_HEADERS.limit]: header(
    "The maximum number of requests in one window.",
    { type: "integer", minimum: 1 },
    100,
  ),
  [RATE_LIMIT_HEADERS.remaining]: header(
    "The number of requests left in the current window.",
    { type: "integer", minimum: 0 },
    99,
  ),
  [RATE_LIMIT_HEADERS.reset]: header(
    "The time when the window ends, in seconds since 1970.",
    { type: "integer", minimum: 0 },
    1_790_000_000,
  ),
  "Retry-After": header("Seconds to wait before the next attempt.", { type: "integer", minimum: 0 }, 10),
  "WWW-Authenticate": header("How to authenticate.", { type: "string" }, "Bearer"),
};

const RATE_HEADERS = Object.values(RATE_LIMIT_HEADERS);

/** Returns references to headers in the description's components. */
export function headerReferences(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Returns the names of the headers that the gateway adds to every response of the route's service. */
export function responseHeaders({ rate_limit }: Pick<CompiledRoute, "rate_limit">): string[] {
  return ["X-Request-ID", ...(rate_limit === null ? [] : RATE_HEADERS)];
}

const ANY = ["X-Request-ID"];
const COUNTED = [...ANY, ...RATE_HEADERS];

type Condition = (route: CompiledRoute) => boolean;
const always: Condition = () => true;
const isProtected: Condition = ({ scope }) => scope !== "public";
const isLimited: Condition = (route) => isProtected(route) || route.rate_limit !== null;
const hasDefaultBody: Condition = ({ bounds }) =>
  bounds.max_body_bytes === DEFAULT_CALL_BOUNDS.max_body_bytes;
export const hasBody: Condition = ({ method }) => method !== "GET" && method !== "HEAD";

/** The errors that are the same on several routes: component, error, headers, and the routes that have it (RG-93). */
const SHARED: readonly [component: string, DescribedError, headers: readonly string[], on: Condition][] = [
  [
    "InvalidPathParameter",
    { code: "INVALID_REQUEST", message: "A path parameter must be one path segment." },
    COUNTED,
    ({ params }) => params.length > 0,
  ],
  ["Unauthorized", { code: "UNAUTHORIZED" }, ANY, isOfMembers],
  [
    "UnauthorizedPerson",
    { code: "UNAUTHORIZED" },
    [...ANY, "WWW-Authenticate"],
    ({ scope }) => scope === "user",
  ],
  ["RequestTimeout", { code: "REQUEST_TIMEOUT" }, COUNTED, hasBody],
  [
    "PayloadTooLarge",
    { code: "PAYLOAD_TOO_LARGE" },
    COUNTED,
    (route) => hasBody(route) && hasDefaultBody(route),
  ],
  // Every protected route can return 429, because the gateway also limits requests with bad credentials.
  ["RateLimited", { code: "RATE_LIMITED" }, [...COUNTED, "Retry-After"], isLimited],
  ["InternalError", { code: "INTERNAL_ERROR" }, COUNTED, always],
  ["BadGateway", { code: "BAD_GATEWAY" }, COUNTED, always],
  [
    "ServiceUnavailable",
    { code: "SERVICE_UNAVAILABLE" },
    [...COUNTED, "Retry-After"],
    (route) => isLimited(route) || route.audited,
  ],
];

export const sharedResponses: Readonly<Record<string, JsonObject>> = Object.fromEntries(
  SHARED.map(([component, error, headers]) => [component, errorResponse(error, headers)]),
);

/** A response of the gateway. `component` is null for a response of one route only. */
export interface GatewayResponse {
  readonly status: string;
  readonly component: string | null;
  readonly response: JsonObject;
}

/** Returns the gateway's errors on a route, one for each status. */
export function gatewayResponses(route: CompiledRoute): GatewayResponse[] {
  const shared = SHARED.filter(([, , , on]) => on(route)).map(([component, { code }]) => ({
    status: String(errorCodes[code].status),
    component,
    response: sharedResponses[component] ?? {},
  }));
  const isLabelled = route.required_labels !== null && isOfMembers(route);
  const { max_body_bytes } = route.bounds;
  const hasOwnMaximum = hasBody(route) && !hasDefaultBody(route) && max_body_bytes > 0;
  const own = (status: string, response: JsonObject) => ({ status, component: null, response });
  return [
    ...shared,
    ...(isLabelled ? [own("403", forbidden(route))] : []),
    ...(hasOwnMaximum
      ? [own("413", errorResponse({ code: "PAYLOAD_TOO_LARGE" }, COUNTED, max_body_bytes))]
      : []),
  ];
}

function forbidden(route: CompiledRoute): JsonObject {
  const details = {
    permission: "required_labels",
    resource: "route",
    resource_id: route.path,
    required_labels: route.required_labels?.list ?? [],
  };
  return errorResponse({ code: "FORBIDDEN", details }, responseHeaders(route));
}

function errorResponse(
  error: DescribedError,
  headers: readonly string[],
  bodyBytesMax = DEFAULT_CALL_BOUNDS.max_body_bytes,
): JsonObject {
  const context = { body: null, query: null, ids: new Map(), bodyBytesMax };
  const value = errorExample(error, context);
  const code = wireCode(error.code);
  return {
    description: `${code}: ${value.error.message}`,
    headers: headerReferences(headers),
    content: { "application/json": { schema: ERROR_SCHEMA, examples: { [code]: { value } } } },
  };
}
