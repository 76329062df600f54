/** The names of the log's filters (AU-36, AU-38). The query in the page's fragment uses the same names. */
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
] as const;
export type FilterName = (typeof FILTERS)[number];

export type Filters = Readonly<Record<FilterName, string>>;

export const OUTCOMES = ["pending", "rejected", "responded", "no_response"] as const;

/**
 * The query parameter in the page's fragment that holds the prefix of an API key. The audit service cannot
 * filter by key, so the page filters the loaded events.
 */
export const KEY = "key_prefix";

/** The filters that the audit service applies, and the key by which the page filters the loaded events. */
export interface Selection {
  filters: Filters;
  key_prefix: string;
}

/** Reads a selection from the query in the page's fragment. Ignores unknown parameters. */
export function selectionOf(query: URLSearchParams): Selection {
  const filters = { ...NO_FILTERS };
  for (const name of FILTERS) filters[name] = query.get(name) ?? "";
  return { filters, key_prefix: query.get(KEY) ?? "" };
}

const NO_FILTERS: Record<FilterName, string> = {
  ...{ occurred_after: "", occurred_before: "", actor_member_id: "", service: "", method: "", route: "" },
  ...{ outcome: "", request_id: "", created_id: "" },
};

export function queryOf(filters: Filters): Record<string, string> {
  return Object.fromEntries(
    FILTERS.map((name) => [name, filters[name].trim()] as const).filter(([, value]) => value !== ""),
  );
}

export function placeQueryOf({ filters, key_prefix }: Selection): Record<string, string> {
  return { ...queryOf(filters), ...(key_prefix === "" ? {} : { [KEY]: key_prefix }) };
}

export const NOTHING_SELECTED: Selection = { filters: NO_FILTERS, key_prefix: "" };

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
export function moreFilters({ filters, key_prefix }: Selection): number {
  const route = actionIn(filters) === "" ? [filters.method, filters.route] : [];
  const { service, outcome, request_id, created_id } = filters;
  return [service, outcome, request_id, created_id, key_prefix, ...route].filter((value) => value !== "")
    .length;
}
