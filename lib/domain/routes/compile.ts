/** What the gateway needs to know of one route and method, worked out once when routes are loaded. */
import { bucketPrefix, type RateLimit } from "../ratelimit/index.ts";
import { PATH_PARAMS_MAX } from "./limits.ts";
import { loneText } from "./lone-text.ts";
import { segmentsOf } from "./path.ts";
import {
  type Method,
  type RateLimitPolicy,
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
}

const AUDITED_UNLESS_FALSE: ReadonlySet<Method> = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/**
 * Compiles every method of every row of a valid stored service, the most protected scope first. What rows have in
 * common they share, since a gateway holds every route that there is; and nothing of `config` itself is kept.
 */
export function* compileService(service: string, config: StoredServiceConfig): Generator<CompiledRoute> {
  const target = addressOf(config.url);
  const origin = `http://${target}`;
  const shared: SharedParts = { labels: new Map(), params: new Map(), limits: new Map() };
  for (const scope of SCOPES.toReversed()) {
    for (const row of config[scope]?.routes ?? []) {
      const { names: params, segments: paramSegments } = paramsOf(row.path, shared);
      const upstream = row.upstream === undefined ? null : compileUpstream(row.upstream, scope, params);
      const requiredLabels = row.required_labels ? labelsOf(row.required_labels, shared) : null;
      for (const method of row.methods) {
        yield {
          service,
          scope,
          method,
          path: row.path,
          target,
          origin,
          params,
          paramSegments,
          upstream,
          requiredLabels,
          rateLimit: limitOf(row.rate_limit, config, shared),
          bucketPrefix: loneText(bucketPrefixOf(service, config, row, method)),
          audited: isAudited(scope, method, row.audit),
        };
      }
    }
  }
}

/** Whether two routes serve alike in everything. Whatever a route is made of can be written as JSON. */
export function isSameRoute(a: CompiledRoute, b: CompiledRoute): boolean {
  return a.path === b.path && a.method === b.method && JSON.stringify(a) === JSON.stringify(b);
}

/** What the routes of one service share, by what it was made from. */
interface SharedParts {
  readonly labels: Map<string, CompiledLabels>;
  readonly params: Map<string, { names: string[]; segments: number[] }>;
  readonly limits: Map<string, RateLimit>;
}

function share<T>(parts: Map<string, T>, key: string, make: () => T): T {
  const known = parts.get(key);
  if (known !== undefined) return known;
  const made = make();
  parts.set(key, made);
  return made;
}

function labelsOf(list: readonly string[], { labels }: SharedParts): CompiledLabels {
  return share(labels, list.join(), () => ({ list, set: new Set(list) }));
}

function paramsOf(path: string, { params }: SharedParts) {
  const segments = segmentsOf(path);
  const key = segments.map((segment) => ("param" in segment ? segment.param : "")).join("/");
  return share(params, key, () => ({
    names: segments.flatMap((segment) => ("param" in segment ? [segment.param] : [])),
    segments: segments.flatMap((segment, index) => ("param" in segment ? [index] : [])),
  }));
}

function compileUpstream(template: string, scope: Scope, params: readonly string[]): TemplatePart[] {
  return upstreamParts(template, scope).map((part) => {
    if ("text" in part) return loneText(part.text);
    return "subject" in part ? SUBJECT_PARTS[part.subject] : paramPart(params.indexOf(part.param));
  });
}

const SUBJECT_PARTS = {
  user_id: { subject: "user_id" },
  organization_id: { subject: "organization_id" },
  member_id: { subject: "member_id" },
} as const satisfies Record<SubjectField, TemplatePart>;
const PARAM_PARTS: readonly TemplatePart[] = Array.from({ length: PATH_PARAMS_MAX }, (_, param) => ({
  param,
}));

function paramPart(param: number): TemplatePart {
  return PARAM_PARTS[param] ?? { param };
}

function policyOf(name: string, { rate_limits }: StoredServiceConfig): RateLimitPolicy {
  const policy = rate_limits?.[name];
  if (policy === undefined) throw new Error("A valid service has every policy that its routes name.");
  return policy;
}

function limitOf(
  rate_limit: StoredRoute["rate_limit"],
  config: StoredServiceConfig,
  { limits }: SharedParts,
): CompiledRoute["rateLimit"] {
  if (rate_limit === undefined) return "fallback";
  if (rate_limit === false) return null;
  const { requests, window_seconds } =
    typeof rate_limit === "object" ? rate_limit : policyOf(rate_limit, config);
  return share(limits, `${requests}/${window_seconds}`, () => ({ requests, windowSeconds: window_seconds }));
}

function bucketPrefixOf(service: string, config: StoredServiceConfig, row: StoredRoute, method: Method) {
  const { rate_limit, path } = row;
  if (typeof rate_limit !== "string") return bucketPrefix({ kind: "route", method, path });
  return policyOf(rate_limit, config).shared
    ? bucketPrefix({ kind: "shared", policy: rate_limit })
    : bucketPrefix({ kind: "local", service, policy: rate_limit });
}

export function isAudited(scope: Scope, method: Method, audit: boolean | undefined): boolean {
  if (scope === "public" || method === "OPTIONS") return false;
  return audit ?? AUDITED_UNLESS_FALSE.has(method);
}
