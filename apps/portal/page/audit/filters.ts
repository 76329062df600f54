/** The filters that the log takes by name (AU-36, AU-38); the address keeps them under the same names. */
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

/** The values of a filter form; an empty text filters nothing. */
export type Filters = Readonly<Record<FilterName, string>>;

export const OUTCOMES = ["pending", "rejected", "responded", "no_response"] as const;

/** The name of the key's prefix in an address. The log has no such filter: the page picks the events. */
const KEY = "key_prefix";

/** The filters of an address, and the key whose events the page picks. */
export interface Selection {
  filters: Filters;
  /** The prefix of the key, or an empty text. */
  key_prefix: string;
}

/** Reads the selection of an address. Names that the page does not know are ignored. */
export function selectionOf(query: URLSearchParams): Selection {
  const value = (name: string) => query.get(name) ?? "";
  return {
    filters: {
      occurred_after: value("occurred_after"),
      occurred_before: value("occurred_before"),
      actor_member_id: value("actor_member_id"),
      service: value("service"),
      method: value("method"),
      route: value("route"),
      outcome: value("outcome"),
      request_id: value("request_id"),
      created_id: value("created_id"),
    },
    key_prefix: value(KEY),
  };
}

/** Returns the parameters that have a value, as the log takes them. */
export function queryOf(filters: Filters): Record<string, string> {
  return Object.fromEntries(
    FILTERS.map((name) => [name, filters[name].trim()] as const).filter(([, value]) => value !== ""),
  );
}

/** Returns the query of an address for a selection. */
export function placeQueryOf({ filters, key_prefix }: Selection): Record<string, string> {
  return { ...queryOf(filters), ...(key_prefix === "" ? {} : { [KEY]: key_prefix }) };
}
