import { isRecord } from "../domain/json/index.ts";
import { type AppliedLimit, bucketNamed, RATE_LIMIT_HEADERS, shownLimit } from "../domain/ratelimit/index.ts";
import {
  bodyText,
  type CompiledRoute,
  DEFAULT_CALL_BOUNDS,
  isOfMembers,
  type Scope,
} from "../domain/routes/index.ts";
import { type JsonObject, operationSamples, type ShellVariable } from "../openapi/index.ts";
import {
  type GatewayResponse,
  gatewayResponses,
  hasBody,
  headerReferences,
  responseHeaders,
} from "./gateway-errors.ts";
import { credentialHeaderOf, securityOf } from "./security.ts";
import type { ServiceOperation, ServiceResponse } from "./service-operation.ts";

/** The parts of an operation that depend on the other operations, such as its unique id. */
export interface OperationPlace {
  /** The names of the params in the description's path, in the order of the route's params. */
  readonly params: readonly string[];
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly origin: string | ShellVariable;
}

const JSON_TYPE = "application/json";
const ANY_TYPE = "*/*";
const WITHOUT_BODY = /^(1..|204|205|304)$/;

/** Builds the operation of a route from the gateway's behavior and from the service's description, if there is one. */
export function edgeOperation(
  route: CompiledRoute,
  service: ServiceOperation | null,
  place: OperationPlace,
): JsonObject {
  const parameters = [...pathParameters(route, service, place), ...(service?.parameters ?? [])];
  const body = bodyOf(route, service);
  return {
    operationId: place.operationId,
    summary: service?.summary ?? `${route.method} ${route.path}`,
    description: description(route, service),
    tags: [place.tag],
    ...(service?.deprecated && { deprecated: true }),
    security: securityOf(route.scope),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== null && { requestBody: body }),
    responses: responses(route, service),
    "x-scope": route.scope,
    ...(route.required_labels !== null && { "x-required-labels": route.required_labels.list }),
    "x-rate-limit": describedLimit(route),
    "x-codeSamples": operationSamples({
      method: route.method,
      path: place.path,
      origin: place.origin,
      credential: credentialHeaderOf(route.scope),
      parameters,
      body: body === null ? null : (service?.bodySample ?? null),
    }),
  };
}

function bodyOf(route: CompiledRoute, service: ServiceOperation | null): JsonObject | null {
  if (!hasBody(route)) return null;
  if (service !== null) return service.body;
  // a DELETE usually has no body
  return route.method === "DELETE" ? null : { content: { [ANY_TYPE]: {} } };
}

function pathParameters(
  { params }: CompiledRoute,
  service: ServiceOperation | null,
  place: OperationPlace,
): JsonObject[] {
  return params.map((param, index) => ({
    name: place.params[index] ?? param,
    in: "path",
    required: true,
    ...(service?.pathParams.get(param) ?? { schema: { type: "string", minLength: 1 } }),
  }));
}

const CALLERS: Readonly<Record<Scope, string>> = {
  public: "everyone, without a credential.",
  user: "a person, by a token of the identity provider or a user API key.",
  organization:
    "a member of an organization, by a member API key or a session; the operation concerns that organization.",
  member:
    "a member of an organization, by a member API key or a session; the operation concerns that member.",
};

/** The subject for which a limit counts requests, by the scope of the route. */
const COUNTED: Readonly<Record<Scope, string>> = {
  public: "client address",
  user: "person",
  organization: "organization",
  member: "member",
};

/** Returns the policy whose bucket counts the requests of a route, or null if the route has its own buckets. */
function policyOf({ bucketPrefix }: CompiledRoute): { policy: string; shared: boolean } | null {
  const bucket = bucketNamed(bucketPrefix.slice(0, -1));
  return bucket !== null && "policy" in bucket
    ? { policy: bucket.policy, shared: bucket.kind === "shared" }
    : null;
}

function description(route: CompiledRoute, service: ServiceOperation | null): string {
  const { scope, required_labels, rate_limit: limit } = route;
  const policy = policyOf(route);
  const labels = required_labels?.list.map((label) => `\`${label}\``).join(", ");
  const isLabelled = labels !== undefined && isOfMembers(route);
  const together =
    policy === null ? "" : `, counted together for all routes with the policy \`${policy.policy}\``;
  const shared = policy?.shared ? " in every service" : "";
  const lines = [
    `**Callers:** ${CALLERS[scope]}`,
    ...(isLabelled ? [`**Labels:** the member's role grants one of ${labels}, or \`*\`.`] : []),
    limit === null
      ? "**Limit:** none."
      : `**Limit:** ${numbersText(limit)} for each ${COUNTED[scope]}${together}${shared}.`,
    ...boundLines(route),
  ];
  const own = service?.description === undefined ? "" : `${service.description}\n\n`;
  return own + lines.join("  \n");
}

function boundLines(route: CompiledRoute): string[] {
  const { timeout_ms, max_body_bytes } = route.bounds;
  return [
    ...(hasBody(route) && max_body_bytes !== DEFAULT_CALL_BOUNDS.max_body_bytes
      ? [`**Largest body:** ${bodyText(max_body_bytes)}.`]
      : []),
    ...(timeout_ms !== DEFAULT_CALL_BOUNDS.timeout_ms
      ? [`**Time:** the response begins within ${timeout_ms / 1000} s.`]
      : []),
  ];
}

function numbersText(limit: Exclude<CompiledRoute["rate_limit"], null>): string {
  if (limit === "fallback") return `as many requests as the header \`${RATE_LIMIT_HEADERS.limit}\` states`;
  if ("requests" in limit) return `${limit.requests} requests in ${limit.window_seconds} s`;
  const text = (limits: readonly AppliedLimit[]) =>
    limits.length === 0 ? "no limit" : limits.map(appliedText).join(" and ");
  const plans = Object.entries(limit.plans).map(
    ([plan, limits]) => `${text(limits)} with the plan \`${plan}\``,
  );
  return [text(limit.limits), ...plans].join("; ");
}

const appliedText = ({ requests, window }: AppliedLimit) =>
  typeof window === "number" ? `${requests} requests in ${window} s` : `${requests} requests a ${window}`;

function describedLimit(route: CompiledRoute): JsonObject | false {
  const { rate_limit: limit, scope } = route;
  if (limit === null) return false;
  const per = COUNTED[scope].replace(" ", "_");
  if (limit === "fallback") return { default: true, per };
  if (!("requests" in limit)) {
    const plans = Object.entries(limit.plans).map(([plan, limits]) => [plan, limits.map(shownLimit)]);
    return { limits: limit.limits.map(shownLimit), plans: Object.fromEntries(plans), per };
  }
  return { requests: limit.requests, window_seconds: limit.window_seconds, per, ...policyOf(route) };
}

function responses(route: CompiledRoute, service: ServiceOperation | null): JsonObject {
  const byStatus: ServiceOperation["responses"] = service?.responses.size
    ? service.responses
    : new Map([["2XX", { description: "", headers: {}, content: { [ANY_TYPE]: {} } }]]);
  const merged = new Map(
    [...byStatus].map(([status, response]) => [status, ofService(route, status, response)]),
  );
  for (const each of gatewayResponses(route)) {
    const described = byStatus.get(each.status);
    const { component, response } = each;
    const alone = component === null ? response : componentOf(component);
    merged.set(each.status, described === undefined ? alone : mergedResponse(route, described, each));
  }
  return Object.fromEntries(merged);
}

function ofService(
  route: CompiledRoute,
  status: string,
  { description, headers, content }: ServiceResponse,
): JsonObject {
  const isEmpty = route.method === "HEAD" || WITHOUT_BODY.test(status) || Object.keys(content).length === 0;
  return {
    description: description || "The response of the service.",
    headers: { ...headers, ...headerReferences(responseHeaders(route)) },
    ...(!isEmpty && { content }),
  };
}

/** Merges the service's response and the gateway's response for a status that both can return. */
function mergedResponse(
  route: CompiledRoute,
  service: ServiceResponse,
  gateway: GatewayResponse,
): JsonObject {
  const own = gateway.response;
  const media = isRecord(own.content) ? own.content[JSON_TYPE] : undefined;
  const content = { ...service.content, [JSON_TYPE]: bothMedia(service.content[JSON_TYPE], media) };
  const saysNoMore = Bun.deepEquals(content, own.content) && Object.keys(service.headers).length === 0;
  if (saysNoMore && gateway.component !== null) return componentOf(gateway.component);
  const descriptions = [service.description, own.description].filter((each) => each !== "");
  return {
    description: [...new Set(descriptions)].join("\n\n"),
    headers: {
      ...service.headers,
      ...(isRecord(own.headers) && own.headers),
      ...headerReferences(responseHeaders(route)),
    },
    ...(route.method !== "HEAD" && { content }),
  };
}

function bothMedia(service: unknown, gateway: unknown): JsonObject {
  const theirs = isRecord(service) ? service : {};
  const ours = isRecord(gateway) ? gateway : {};
  if (service === undefined) return ours;
  const examples: JsonObject = isRecord(theirs.examples) ? { ...theirs.examples } : {};
  if (theirs.example !== undefined) examples.example = { value: theirs.example };
  for (const [code, example] of Object.entries(isRecord(ours.examples) ? ours.examples : {})) {
    if (Object.values(examples).some((each) => Bun.deepEquals(each, example))) continue;
    examples[Object.hasOwn(examples, code) ? `${code} of the gateway` : code] = example;
  }
  if (theirs.schema === undefined) return { examples };
  const isOurs = Bun.deepEquals(theirs.schema, ours.schema);
  return { schema: isOurs ? ours.schema : { anyOf: [theirs.schema, ours.schema] }, examples };
}

function componentOf(name: string): JsonObject {
  return { $ref: `#/components/responses/${name}` };
}
