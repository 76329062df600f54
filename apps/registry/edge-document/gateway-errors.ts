import { type ErrorCode, ErrorEnvelope, errorCodes, wireCode } from "@ostiary/lib/domain/errors";
import type { CompiledRoute } from "@ostiary/lib/domain/routes";
import {
  type DescribedError,
  documentedEnvelope,
  errorExample,
  type JsonObject,
  OpenApiSchemas,
} from "@ostiary/lib/runtime/http";

/** What the gateway itself may answer on a matched route (Gateway specification, Errors). */
const CODES = [
  "INVALID_REQUEST",
  "UNAUTHORIZED",
  "FORBIDDEN",
  "REQUEST_TIMEOUT",
  "PAYLOAD_TOO_LARGE",
  "RATE_LIMITED",
  "INTERNAL_ERROR",
  "BAD_GATEWAY",
  "SERVICE_UNAVAILABLE",
] as const satisfies ErrorCode[];
type GatewayCode = (typeof CODES)[number];

/** The gateway's default: the registry is not told of another one. */
const BODY_BYTES_MAX = 10_485_760;

/** Of services that answer in the platform's own form. */
const SERVICE_CODES = [
  "VALIDATION_ERROR",
  "NOT_FOUND",
  "CONFLICT",
  "ORGANIZATION_HANDOFF_REQUIRED",
] as const satisfies ErrorCode[];

const schemas = new OpenApiSchemas();
/** The form of the platform's errors, as a reference. */
export const ERROR_SCHEMA = schemas.convert(documentedEnvelope(new Set([...CODES, ...SERVICE_CODES])));

/** The schemas of the gateway's errors, by their names. */
export const errorSchemas: Readonly<Record<string, JsonObject>> = schemas.components;

const ENVELOPE_FIELDS = Object.keys(ErrorEnvelope.properties.error.properties).sort().join();

/** Whether a service's schema is the platform's form of errors, whatever it says of the details. */
export function isEnvelope(schema: unknown, lookUp: (schema: unknown) => JsonObject | null): boolean {
  const fields = lookUp(lookUp(schema)?.properties)?.error;
  const properties = lookUp(lookUp(fields)?.properties);
  return properties !== null && Object.keys(properties).sort().join() === ENVELOPE_FIELDS;
}

const header = (description: string, schema: JsonObject, example: unknown) => ({
  description,
  schema,
  example,
});

/** The headers that the gateway sets, by their names. */
export const gatewayHeaders: Readonly<Record<string, JsonObject>> = {
  "X-Request-ID": header(
    "Names this request in logs and audit events: quote it when you ask for help.",
    { type: "string", format: "uuid" },
    "0199f4c1-7d1e-7c3a-9b1f-2f6a1c0d4e5b",
  ),
  "X-RateLimit-Limit": header("Requests that one window admits.", { type: "integer", minimum: 1 }, 100),
  "X-RateLimit-Remaining": header("Requests left in this window.", { type: "integer", minimum: 0 }, 99),
  "X-RateLimit-Reset": header(
    "When the window ends, in seconds since 1970.",
    { type: "integer", minimum: 0 },
    1_790_000_000,
  ),
  "Retry-After": header("Seconds after which to try again.", { type: "integer", minimum: 0 }, 10),
  "WWW-Authenticate": header("How to authenticate.", { type: "string" }, "Bearer"),
};

const RATE_HEADERS = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];

/** References to headers of the document's components. */
export function headerReferences(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The headers of every answer that a service gives on a route. */
export function answerHeaders({ rateLimit }: Pick<CompiledRoute, "rateLimit">): string[] {
  return ["X-Request-ID", ...(rateLimit === null ? [] : RATE_HEADERS)];
}

/** What may keep a request from its service on one route. */
function codesOf({
  scope,
  method,
  params,
  requiredLabels,
  rateLimit,
  audited,
}: CompiledRoute): GatewayCode[] {
  const isProtected = scope !== "public";
  const isLabelled = requiredLabels !== null && (scope === "organization" || scope === "member");
  const hasBody = method !== "GET" && method !== "HEAD";
  const can: Record<GatewayCode, boolean> = {
    INVALID_REQUEST: params.length > 0,
    UNAUTHORIZED: isProtected,
    FORBIDDEN: isLabelled,
    REQUEST_TIMEOUT: hasBody,
    PAYLOAD_TOO_LARGE: hasBody,
    // too many bad credentials are 429 as well
    RATE_LIMITED: isProtected || rateLimit !== null,
    INTERNAL_ERROR: true,
    BAD_GATEWAY: true,
    SERVICE_UNAVAILABLE: isProtected || rateLimit !== null || audited,
  };
  return CODES.filter((code) => can[code]);
}

/** An answer of the gateway, and the name of the component that it is where other routes have the same. */
export interface GatewayResponse {
  readonly status: string;
  readonly component: string | null;
  readonly response: JsonObject;
}

/** The errors of the gateway on a route: one for each status. */
export function gatewayResponses(route: CompiledRoute): GatewayResponse[] {
  return codesOf(route).map((code) => {
    const status = String(errorCodes[code].status);
    if (code === "FORBIDDEN") return { status, component: null, response: forbidden(route) };
    const name = code === "UNAUTHORIZED" && route.scope === "user" ? "UNAUTHORIZED_PERSON" : code;
    return { status, component: componentNames[name], response: shared[name] };
  });
}

function forbidden(route: CompiledRoute): JsonObject {
  const details = {
    permission: "required_labels",
    resource: "route",
    resource_id: route.path,
    required_labels: route.requiredLabels?.list ?? [],
  };
  return errorResponse({ code: "FORBIDDEN", details }, answerHeaders(route));
}

function errorResponse(error: DescribedError<GatewayCode>, headers: readonly string[]): JsonObject {
  const { code } = error;
  const value = errorExample(error, {
    body: null,
    query: null,
    ids: new Map(),
    body_bytes_max: BODY_BYTES_MAX,
  });
  return {
    description: `${wireCode(code)}: ${value.error.message}`,
    headers: headerReferences(headers),
    content: { "application/json": { schema: ERROR_SCHEMA, examples: { [wireCode(code)]: { value } } } },
  };
}

const ANY = ["X-Request-ID"];
const COUNTED = [...ANY, ...RATE_HEADERS];

const shared = {
  INVALID_REQUEST: errorResponse(
    { code: "INVALID_REQUEST", message: "A path parameter must be one path segment." },
    COUNTED,
  ),
  UNAUTHORIZED: errorResponse({ code: "UNAUTHORIZED" }, ANY),
  UNAUTHORIZED_PERSON: errorResponse({ code: "UNAUTHORIZED" }, [...ANY, "WWW-Authenticate"]),
  REQUEST_TIMEOUT: errorResponse({ code: "REQUEST_TIMEOUT" }, COUNTED),
  PAYLOAD_TOO_LARGE: errorResponse({ code: "PAYLOAD_TOO_LARGE" }, COUNTED),
  RATE_LIMITED: errorResponse({ code: "RATE_LIMITED" }, [...COUNTED, "Retry-After"]),
  INTERNAL_ERROR: errorResponse({ code: "INTERNAL_ERROR" }, COUNTED),
  BAD_GATEWAY: errorResponse({ code: "BAD_GATEWAY" }, COUNTED),
  SERVICE_UNAVAILABLE: errorResponse({ code: "SERVICE_UNAVAILABLE" }, [...COUNTED, "Retry-After"]),
} satisfies Record<Exclude<GatewayCode, "FORBIDDEN"> | "UNAUTHORIZED_PERSON", JsonObject>;

const componentNames: Readonly<Record<keyof typeof shared, string>> = {
  INVALID_REQUEST: "InvalidPathParameter",
  UNAUTHORIZED: "Unauthorized",
  UNAUTHORIZED_PERSON: "UnauthorizedPerson",
  REQUEST_TIMEOUT: "RequestTimeout",
  PAYLOAD_TOO_LARGE: "PayloadTooLarge",
  RATE_LIMITED: "RateLimited",
  INTERNAL_ERROR: "InternalError",
  BAD_GATEWAY: "BadGateway",
  SERVICE_UNAVAILABLE: "ServiceUnavailable",
};

/** The errors that are the same on every route that has them, as components. */
export const sharedResponses: Readonly<Record<string, JsonObject>> = Object.fromEntries(
  Object.entries(componentNames).map(([code, name]) => [name, Reflect.get(shared, code)]),
);
