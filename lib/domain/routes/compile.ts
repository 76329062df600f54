/** What the gateway needs to know of one route and method, worked out once when routes are loaded. */
import { bucketPrefix, type RateLimit } from "../ratelimit/index.ts";
import { paramNames, segmentsOf } from "./path.ts";
import {
  type Method,
  SCOPES,
  type Scope,
  type StoredRoute,
  type StoredServiceConfig,
  type SubjectField,
} from "./schema.ts";
import { addressOf } from "./service-url.ts";
import { upstreamParts } from "./upstream.ts";

/** A part of an upstream path: text, the id of an owner, or the param at an index. */
export type TemplatePart = string | { readonly subject: SubjectField } | { readonly param: number };

/** Labels of which a member needs one: the list as written, and the same for look-up. */
export interface CompiledLabels {
  readonly list: readonly string[];
  readonly set: ReadonlySet<string>;
}

/** One route of one method, ready to serve. */
export interface CompiledRoute {
  readonly service: string;
  readonly scope: Scope;
  readonly method: Method;
  /** The full path as published: the `http.route` of logs, metrics and audit events. */
  readonly path: string;
  /** `host:port` of the service. */
  readonly target: string;
  /** `http://host:port` of the service. */
  readonly origin: string;
  /** The names of the path's params, from the left; a match gives their values in this order. */
  readonly params: readonly string[];
  /** Which segments of the path, counted from 0, are those params. */
  readonly paramSegments: readonly number[];
  /** The upstream path; null when the request's path is passed on unchanged. */
  readonly upstream: readonly TemplatePart[] | null;
  readonly requiredLabels: CompiledLabels | null;
  /** null: unlimited. `fallback`: the gateway's default limit. */
  readonly rateLimit: RateLimit | "fallback" | null;
  /** What the subject is appended to for the counter's key. */
  readonly bucketPrefix: string;
  /** Whether requests leave an audit event, where audit is on. */
  readonly audited: boolean;
  /** The row of the stored form that this was made from. */
  readonly row: StoredRoute;
}

const AUDITED_UNLESS_FALSE: ReadonlySet<Method> = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/** Compiles every method of every row of a valid stored service, the most protected scope first. */
export function* compileService(service: string, config: StoredServiceConfig): Generator<CompiledRoute> {
  for (const scope of SCOPES.toReversed()) {
    for (const row of config[scope]?.routes ?? []) {
      for (const method of row.methods) yield compileRoute(service, config, scope, row, method);
    }
  }
}

function compileRoute(
  service: string,
  config: StoredServiceConfig,
  scope: Scope,
  row: StoredRoute,
  method: Method,
): CompiledRoute {
  const target = addressOf(config.url);
  const params = paramNames(row.path);
  return {
    service,
    scope,
    method,
    path: row.path,
    target,
    origin: `http://${target}`,
    params,
    paramSegments: segmentsOf(row.path).flatMap((segment, index) => ("param" in segment ? [index] : [])),
    upstream: row.upstream === undefined ? null : compileUpstream(row.upstream, scope, params),
    requiredLabels: row.required_labels
      ? { list: row.required_labels, set: new Set(row.required_labels) }
      : null,
    ...compileLimit(service, config, row, method),
    audited: isAudited(scope, method, row.audit),
    row,
  };
}

function compileUpstream(template: string, scope: Scope, params: readonly string[]): TemplatePart[] {
  return upstreamParts(template, scope).map((part) => {
    if ("text" in part) return part.text;
    return "subject" in part ? part : { param: params.indexOf(part.param) };
  });
}

function compileLimit(
  service: string,
  config: StoredServiceConfig,
  row: StoredRoute,
  method: Method,
): Pick<CompiledRoute, "rateLimit" | "bucketPrefix"> {
  const { rate_limit } = row;
  const ownBucket = bucketPrefix({ kind: "route", method, path: row.path });
  if (rate_limit === undefined) return { rateLimit: "fallback", bucketPrefix: ownBucket };
  if (rate_limit === false) return { rateLimit: null, bucketPrefix: ownBucket };
  if (typeof rate_limit === "object") return { rateLimit: toLimit(rate_limit), bucketPrefix: ownBucket };
  const policy = config.rate_limits?.[rate_limit];
  if (policy === undefined) throw new Error("A valid service has every policy that its routes name.");
  return {
    rateLimit: toLimit(policy),
    bucketPrefix: policy.shared
      ? bucketPrefix({ kind: "shared", policy: rate_limit })
      : bucketPrefix({ kind: "local", service, policy: rate_limit }),
  };
}

function toLimit(limit: { requests: number; window_seconds: number }): RateLimit {
  return { requests: limit.requests, windowSeconds: limit.window_seconds };
}

function isAudited(scope: Scope, method: Method, audit: boolean | undefined): boolean {
  if (scope === "public" || method === "OPTIONS") return false;
  return audit ?? AUDITED_UNLESS_FALSE.has(method);
}
