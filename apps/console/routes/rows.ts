import {
  bodyText,
  type ConfiguredBounds,
  isAudited,
  limitText,
  type Method,
  SCOPES,
  type Scope,
  type StoredServiceConfig,
  timeoutText,
} from "@ostiary/lib/domain/routes";
import { foldOf } from "@ostiary/lib/page/search";

/** A row of the route list: the methods of a path that share one configuration. */
export interface RouteRow {
  readonly service: string;
  readonly scope: Scope;
  readonly path: string;
  readonly methods: readonly Method[];
  readonly upstream: string | null;
  readonly labels: readonly string[];
  readonly limit: string;
  /** The timeout and the maximum body size that the route sets for itself, as a text; empty without them. */
  readonly bounds: string;
  /** The methods whose requests are audited, by configuration or by default. */
  readonly audited: readonly Method[];
  /** The searchable text, folded. */
  readonly text: string;
}

export type Services = Readonly<Record<string, StoredServiceConfig>>;

/** Returns the rows of all services, sorted by service, scope and path. */
export function routeRows(services: Services): RouteRow[] {
  return Object.entries(services)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([service, config]) => rowsOf(service, config));
}

export function rowsOf(service: string, config: StoredServiceConfig): RouteRow[] {
  return SCOPES.flatMap((scope) =>
    (config[scope]?.routes ?? [])
      .map(({ path, methods, upstream = null, required_labels: labels = [], rate_limit, audit, ...own }) => {
        const limit = limitText(rate_limit);
        const bounds = boundsText(own);
        const audited = methods.filter((method) => isAudited(scope, method, audit));
        const words = [service, scope, path, ...methods, upstream ?? "", ...labels, limit, bounds];
        const text = foldOf([...words, audited.length > 0 ? "audited" : ""].join("\n"));
        return { service, scope, path, methods, upstream, labels, limit, bounds, audited, text };
      })
      .sort((a, b) => (a.path < b.path ? -1 : Number(a.path > b.path))),
  );
}

function boundsText({ timeout_ms, max_body_bytes }: ConfiguredBounds): string {
  return [
    ...(timeout_ms === undefined ? [] : [`timeout ${timeoutText(timeout_ms)}`]),
    ...(max_body_bytes === undefined ? [] : [`largest body ${bodyText(max_body_bytes)}`]),
  ].join(", ");
}

export function countScopes(rows: readonly RouteRow[]): Record<Scope, number> {
  const counts = { public: 0, user: 0, organization: 0, member: 0 };
  for (const row of rows) counts[row.scope] += row.methods.length;
  return counts;
}

export interface ServiceRow {
  readonly name: string;
  readonly url: string;
  /** The number of routes of each scope; each method of a path is a route. */
  readonly counts: Readonly<Record<Scope, number>>;
}

export function serviceRows(services: Services): ServiceRow[] {
  return Object.entries(services)
    .map(([name, config]) => ({ name, url: config.url, counts: countScopes(rowsOf(name, config)) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
