/** The data that the gateway needs for one method of a route, computed when routes load. */

import { type CallBounds, compileBounds, configuredBounds, DEFAULT_CALL_BOUNDS } from "./call-bounds.ts";
import { flatString, intern } from "./compact.ts";
import { type CompiledLimit, compileLimit, type SharedLimits } from "./compile-limit.ts";
import { segmentsOf } from "./route-path.ts";
import { canonicalAddress } from "./service-address.ts";
import {
  type Method,
  SCOPES,
  type Scope,
  type StoredServiceConfig,
  type SubjectField,
} from "./service-schema.ts";
import { addressOf } from "./service-url.ts";
import { type UpstreamPart, upstreamParts } from "./upstream-template.ts";

/** A part of an upstream path: text, the id of an owner, or the param at an index. */
type TemplatePart = string | { readonly subject: SubjectField } | { readonly param: number };

/** The required labels of a route, as a list and as a set. A member needs one of the labels. */
interface CompiledLabels {
  readonly list: readonly string[];
  readonly set: ReadonlySet<string>;
}

/** One method of a route, ready to serve. */
export interface CompiledRoute extends CompiledLimit {
  readonly service: string;
  readonly scope: Scope;
  readonly method: Method;
  /** The full path as published, used as `http.route` in logs, metrics and audit events. */
  readonly path: string;
  readonly target: string;
  /** The address of the service in the one form in which addresses are compared. */
  readonly address: string;
  readonly origin: string;
  /** The names of the path's params, from the left. A match has the values of the params in this order. */
  readonly params: readonly string[];
  /** The indexes of the path segments that are params, counted from 0. */
  readonly paramSegments: readonly number[];
  /** The upstream path, or null when the request's path is used unchanged. */
  readonly upstream: readonly TemplatePart[] | null;
  readonly required_labels: CompiledLabels | null;
  /** The timeouts and the maximum body size of the calls to the service. */
  readonly bounds: CallBounds;
  /** Whether requests are audited, if the gateway has auditing enabled. */
  readonly audited: boolean;
  /** The metrics of the route in the process that serves it, or null before the first request. */
  series: RouteSeries | null;
}

/** The metrics of a route. `trace_id` is null if the request's trace is not recorded. */
export interface RouteSeries {
  readonly requests: { observe(status: number, duration_ms: number, trace_id: string | null): void };
  /** The calls to the route's service. The status is null if the service did not respond. */
  readonly calls: { observe(status: number | null, seconds: number, trace_id: string | null): void };
}

const AUDITED_UNLESS_FALSE: ReadonlySet<Method> = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/**
 * Compiles every method of every route of a valid stored service, the most protected scope first. Routes
 * share equal parts to save memory. Routes do not refer to `config`, so that `config` can be
 * garbage-collected.
 *
 * @param shared the parts of routes that were compiled earlier
 */
export function* compileService(
  service: string,
  config: StoredServiceConfig,
  shared = new SharedParts(),
): Generator<CompiledRoute> {
  const target = addressOf(config.url);
  const address = flatString(canonicalAddress(config.url) ?? target);
  const origin = `http://${target}`;
  for (const scope of SCOPES.toReversed()) {
    for (const row of config[scope]?.routes ?? []) {
      const { names: params, segments: paramSegments } = paramsOf(row.path, shared);
      const upstream =
        row.upstream === undefined ? null : compileUpstream(row.upstream, { scope, params }, shared);
      const bounds = compileBounds(configuredBounds(config, row), shared.defaults, shared.bounds);
      const required_labels = row.required_labels ? labelsOf(row.required_labels, shared) : null;
      for (const method of row.methods) {
        yield {
          service,
          scope,
          method,
          path: row.path,
          target,
          address,
          origin,
          params,
          paramSegments,
          upstream,
          required_labels,
          ...compileLimit(service, config, row, method, shared.limits),
          bounds,
          audited: isAudited(scope, method, row.audit),
          series: null,
        };
      }
    }
  }
}

/** Returns whether two compiled routes are equal. Compares everything except `series`, as JSON. */
export function isSameRoute(a: CompiledRoute, b: CompiledRoute): boolean {
  return a.path === b.path && a.method === b.method && published(a) === published(b);
}

function published(route: CompiledRoute): string {
  return JSON.stringify({ ...route, series: null });
}

/**
 * The parts that routes of all services share, keyed by the text from which they were compiled. Sharing keeps
 * these parts in the processor's cache, because requests to many routes read the same memory.
 */
export class SharedParts {
  readonly bounds = new Map<string, CallBounds>();
  readonly labels = new Map<string, CompiledLabels>();
  readonly params = new Map<string, { names: string[]; segments: number[] }>();
  readonly limits: SharedLimits = { windows: new Map(), sets: new Map() };
  readonly parts = new Map<string, TemplatePart>();
  /** The bounds of routes that configure none. */
  readonly defaults: CallBounds;

  constructor(defaults = DEFAULT_CALL_BOUNDS) {
    this.defaults = defaults;
  }
}

function labelsOf(list: readonly string[], { labels }: SharedParts): CompiledLabels {
  return intern(labels, JSON.stringify(list), () => ({ list, set: new Set(list) }));
}

function paramsOf(path: string, { params }: SharedParts) {
  const segments = segmentsOf(path);
  const key = segments.map((segment) => ("param" in segment ? segment.param : "")).join("/");
  return intern(params, key, () => ({
    names: segments.flatMap((segment) => ("param" in segment ? [segment.param] : [])),
    segments: segments.flatMap((segment, index) => ("param" in segment ? [index] : [])),
  }));
}

function compileUpstream(
  template: string,
  { scope, params }: Pick<CompiledRoute, "scope" | "params">,
  { parts }: SharedParts,
): TemplatePart[] {
  return upstreamParts(template, scope).map((part) => {
    const compiled = compilePart(part, params);
    return intern(parts, JSON.stringify(compiled), () => compiled);
  });
}

function compilePart(part: UpstreamPart, params: readonly string[]): TemplatePart {
  if ("text" in part) return flatString(part.text);
  return "subject" in part ? part : { param: params.indexOf(part.param) };
}

export function isAudited(scope: Scope, method: Method, audit: boolean | undefined): boolean {
  if (scope === "public" || method === "OPTIONS") return false;
  return audit ?? AUDITED_UNLESS_FALSE.has(method);
}

export const EVERY_LABEL = "*";

/**
 * Returns whether the holder of `labels` may use a route that requires `required`. One required label or `*`
 * suffices (GW-76, GW-77). Labels constrain members only: `labels` is null for other callers, who pass.
 */
export function labelsSuffice(required: CompiledLabels | null, labels: readonly string[] | null): boolean {
  if (required === null || labels === null) return true;
  for (const label of labels) {
    if (label === EVERY_LABEL || required.set.has(label)) return true;
  }
  return false;
}
