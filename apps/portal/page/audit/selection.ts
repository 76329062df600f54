/**
 * The names of the log's filters (AU-36, AU-38). The query in the page's fragment uses the same names. The audit
 * service cannot filter by `key_prefix`, so the page filters the loaded events.
 */
export const FILTERS = [
  "occurred_after",
  "occurred_before",
  "actor_member_id",
  "service",
  "method",
  "route",
  "outcome",
  "request_id",
  "created_id",
  "key_prefix",
] as const;
export type FilterName = (typeof FILTERS)[number];

export type Filters = Readonly<Record<FilterName, string>>;

export const OUTCOMES = ["pending", "rejected", "responded", "no_response"] as const;

/** Reads the filters from the query in the page's fragment. Ignores unknown parameters. */
export function filtersOf(query: URLSearchParams): Filters {
  const filters = { ...NO_FILTERS };
  for (const name of FILTERS) filters[name] = query.get(name) ?? "";
  return filters;
}

export const NO_FILTERS: Record<FilterName, string> = {
  ...{ occurred_after: "", occurred_before: "", actor_member_id: "", service: "", method: "", route: "" },
  ...{ outcome: "", request_id: "", created_id: "", key_prefix: "" },
};

export function queryOf(filters: Filters): Record<string, string> {
  return Object.fromEntries(
    FILTERS.map((name) => [name, filters[name].trim()] as const).filter(([, value]) => value !== ""),
  );
}

export const RANGES = [3_600, 86_400, 604_800, 2_592_000] as const;

/** Returns the filters for the events of the last `seconds`, or of all times for 0. */
export function withRange(filters: Filters, seconds: number, nowMs: number): Filters {
  const occurred_after = seconds === 0 ? "" : new Date(nowMs - seconds * 1_000).toISOString();
  return { ...filters, occurred_after, occurred_before: "" };
}

/** Returns the method and route of the filters as one action such as `PATCH /org`. Empty without one of them. */
export function actionIn({ method, route }: Filters): string {
  return method === "" || route === "" ? "" : `${method} ${route}`;
}

/** Returns the filters for the events of one action, or of all actions for "". */
export function withAction(filters: Filters, action: string): Filters {
  const [method = "", route = ""] = action.split(" ");
  return { ...filters, method, route };
}

/** Returns how many filters are in use that have no chip of their own: beside time, person and action. */
export function moreFilters(filters: Filters): number {
  const { service, method, outcome, request_id, created_id, key_prefix } = filters;
  const route = actionIn(filters) === "" ? [method, filters.route] : [];
  return [service, outcome, request_id, created_id, key_prefix, ...route].filter((value) => value !== "")
    .length;
}
