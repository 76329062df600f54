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

/** The filters in use, by name. */
export type Filters = Readonly<Record<string, string>>;

/** Returns the filters among these texts. An empty text is no filter. */
export function filtersOf(texts: Filters): Filters {
  return Object.fromEntries(
    FILTERS.map((name) => [name, texts[name]?.trim() ?? ""] as const).filter(([, text]) => text !== ""),
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
  return method && route ? `${method} ${route}` : "";
}

/** Returns the filters for the events of one action, or of all actions for "". */
export function withAction(filters: Filters, action: string): Filters {
  const [method = "", route = ""] = action.split(" ");
  return { ...filters, method, route };
}

/** Returns how many filters are in use that have no chip of their own: beside time, person and action. */
export function moreFilters(filters: Filters): number {
  const ofAction = actionIn(filters) === "" ? [] : ["method", "route"];
  const inChips = ["occurred_after", "occurred_before", "actor_member_id", ...ofAction];
  return Object.keys(filters).filter((name) => !inChips.includes(name)).length;
}
