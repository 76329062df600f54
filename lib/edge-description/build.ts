import type { RouteTable } from "../domain/routes/index.ts";
import type { JsonObject, ShellVariable } from "../openapi/index.ts";
import { edgeOperation } from "./edge-operation.ts";
import { fairShares } from "./fair-shares.ts";
import { errorSchemas, gatewayHeaders, sharedResponses } from "./gateway-errors.ts";
import { type Placed, placeRoutes } from "./place-routes.ts";
import { schemesOf } from "./security.ts";
import type { KnownDescription } from "./service-description.ts";
import { ServiceMerge } from "./service-merge.ts";
import { UniqueNames } from "./unique-names.ts";

interface EdgeSources {
  readonly title: string;
  /** The URL where clients call the gateway, or undefined when the registry does not know it. */
  readonly serverUrl: string | undefined;
  readonly table: RouteTable;
  /** The descriptions by service, for services whose config names a description. */
  readonly descriptions: ReadonlyMap<string, KnownDescription>;
}

/** The introduction of the edge description. It applies to all operations. */
const introduction = `The operations that clients may call through the gateway, from the routes that are published now.

Each operation names its credentials. A person sends a token of the identity provider (\`Authorization: Bearer …\`) or a
user API key; a member sends a member API key or a session. Keys and sessions go into \`X-API-Key\`, which takes
precedence. The credential decides whose data an operation reads or changes.

Errors of the gateway have a \`code\` for programs, a \`message\` for people, \`details\` and a \`request_id\`. A wrong
credential gets 401, and a missing label 403. After a 429, wait for \`Retry-After\` seconds. After a 502, the service may
have done its work, so retry only requests that are safe to send twice. Errors of services are forwarded unchanged.`;

const UNKNOWN_ORIGIN: ShellVariable = { variable: "API_URL" };

/** Yields the edge description in pieces that are quick to build, since it can have several megabytes. */
export function* edgeDescription(sources: EdgeSources): Generator<string> {
  const { title, serverUrl, table, descriptions } = sources;
  const merges = mergesOf(descriptions);
  const { placed, tags } = yield* placeRoutes(table, merges, serverUrl ?? UNKNOWN_ORIGIN);
  const head = {
    openapi: "3.1.0",
    info: { title, version: "1", description: introduction },
    servers: [{ url: serverUrl ?? "/", description: "The gateway." }],
    security: [],
  };
  yield `${JSON.stringify(head).slice(0, -1)},"tags":[`;
  yield* joined(tags.values().map((tag) => JSON.stringify(tag)));
  yield '],"paths":{';
  yield* paths(placed, merges);
  yield '},"components":{"schemas":{';
  yield* joined(componentSchemas(merges));
  const securitySchemes = schemesOf(new Set(placed.map(({ route }) => route.scope)));
  const rest = JSON.stringify({ responses: sharedResponses, headers: gatewayHeaders, securitySchemes });
  yield `},${rest.slice(1)},"x-service-documents":${JSON.stringify(marksOf(descriptions, merges))}}`;
}

function mergesOf(descriptions: EdgeSources["descriptions"]): Map<string, ServiceMerge> {
  const names = new UniqueNames(Object.keys(errorSchemas));
  const shares = fairShares(new Map([...descriptions].map(([service, { bytes }]) => [service, bytes])));
  const merges = new Map<string, ServiceMerge>();
  for (const [service, { description }] of descriptions) {
    const share = shares.get(service);
    if (description === null || share === undefined) continue;
    merges.set(service, new ServiceMerge(service, description, { names, share }));
  }
  return merges;
}

/** Yields the `paths` object in pieces. */
function* paths(placed: readonly Placed[], merges: ReadonlyMap<string, ServiceMerge>): Generator<string> {
  let path: string | null = null;
  for (const { place, route, found } of placed) {
    const merge = merges.get(route.service);
    const merged = found === null ? null : (merge?.operation(route, found, place) ?? null);
    const operation = merged ?? JSON.stringify(edgeOperation(route, null, place));
    const start = path === place.path ? "," : `${path === null ? "" : "},"}${JSON.stringify(place.path)}:{`;
    yield `${start}"${route.method.toLowerCase()}":${operation}`;
    path = place.path;
    if (merge !== undefined) yield* merge.copySchemas();
  }
  if (path !== null) yield "}";
}

function* componentSchemas(merges: ReadonlyMap<string, ServiceMerge>): Generator<string> {
  yield JSON.stringify(errorSchemas).slice(1, -1);
  for (const merge of merges.values()) yield* merge.components();
}

/** Yields the texts, with commas between non-empty texts. */
function* joined(texts: Iterable<string>): Generator<string> {
  let comma = "";
  for (const text of texts) {
    yield text === "" ? "" : comma + text;
    if (text !== "") comma = ",";
  }
}

/** Returns the status of each service's description, which explains why an operation has no description. */
function marksOf(
  descriptions: EdgeSources["descriptions"],
  merges: ReadonlyMap<string, ServiceMerge>,
): JsonObject[] {
  return [...descriptions].map(([service, { status, read_at }]) => {
    const count = merges.get(service)?.left_out ?? 0;
    return { service, status, ...(status === "stale" && { read_at }), ...(count > 0 && { left_out: count }) };
  });
}
