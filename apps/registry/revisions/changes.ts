import {
  type Method,
  MethodName,
  RateLimitPolicy,
  SCOPES,
  type Scope,
  ScopeName,
  StoredRoute,
  type StoredServiceConfig,
} from "@ostiary/lib/routes";
import { type Static, Type } from "@sinclair/typebox";

const RouteSettings = Type.Partial(
  Type.Pick(StoredRoute, ["upstream", "required_labels", "rate_limit", "audit"]),
  { additionalProperties: false, title: "RouteSettings", description: "What the route sets for the method." },
);
const ServiceSettings = Type.Object(
  {
    url: Type.Optional(Type.String()),
    rate_limits: Type.Optional(Type.Record(Type.String(), RateLimitPolicy)),
  },
  {
    additionalProperties: false,
    title: "ServiceSettings",
    description: "A setting of the service itself: its url, or one policy.",
  },
);
const Side = Type.Union([RouteSettings, ServiceSettings, Type.Null()]);

/**
 * One difference between two configs: a route of one method or, with `scope`, `method` and `path` null, the
 * url or one policy of the service (contract 3, Beyond the specification).
 */
export const Change = Type.Object(
  {
    action: Type.Union([Type.Literal("added"), Type.Literal("removed"), Type.Literal("changed")]),
    scope: Type.Union([ScopeName, Type.Null()]),
    method: Type.Union([MethodName, Type.Null()]),
    path: Type.Union([Type.String(), Type.Null()]),
    before: Side,
    after: Side,
  },
  { title: "Change", description: "One difference: of a route's method, or of the service itself." },
);
export type Change = Static<typeof Change>;
type Side = Static<typeof Side>;

type Place = Pick<Change, "scope" | "method" | "path">;
type Parts = Map<string, { place: Place; value: Exclude<Side, null> }>;

/** What turns `before` into `after`, in the order of `after`; null stands for no service. */
export function listChanges(before: StoredServiceConfig | null, after: StoredServiceConfig | null): Change[] {
  const old = partsOf(before);
  const changes: Change[] = [];
  for (const [key, { place, value }] of partsOf(after)) {
    const was = old.get(key)?.value ?? null;
    old.delete(key);
    if (was === null) changes.push({ action: "added", ...place, before: null, after: value });
    else if (!Bun.deepEquals(was, value)) {
      changes.push({ action: "changed", ...place, before: was, after: value });
    }
  }
  for (const { place, value } of old.values()) {
    changes.push({ action: "removed", ...place, before: value, after: null });
  }
  return changes;
}

const ofService: Place = { scope: null, method: null, path: null };

/** A config taken apart into what can change by itself, each under a key of its own. */
function partsOf(config: StoredServiceConfig | null): Parts {
  const parts: Parts = new Map();
  if (config === null) return parts;
  parts.set("url", { place: ofService, value: { url: config.url } });
  for (const [name, policy] of Object.entries(config.rate_limits ?? {})) {
    parts.set(`policy ${name}`, { place: ofService, value: { rate_limits: { [name]: policy } } });
  }
  for (const scope of SCOPES) {
    for (const { path, methods, ...settings } of config[scope]?.routes ?? []) {
      for (const method of methods) {
        parts.set(routeKey(scope, method, path), { place: { scope, method, path }, value: settings });
      }
    }
  }
  return parts;
}

function routeKey(scope: Scope, method: Method, path: string): string {
  return `route ${scope} ${method} ${path}`;
}
