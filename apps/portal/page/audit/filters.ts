import { routeTemplate } from "@ostiary/lib/contracts/audit";
import { Value } from "@sinclair/typebox/value";
import { NO_TIME } from "../parts/time-field.tsx";
import { type Problem, type Problems, problemOf } from "../parts/use-problems.ts";

/** The filters of the log by name (AU-36, AU-38). The page's address uses the same names. */
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

/** The values of a filter form. An empty text means no filter. */
export type Filters = Readonly<Record<FilterName, string>>;

export const OUTCOMES = ["pending", "rejected", "responded", "no_response"] as const;

/**
 * The name of the key's prefix in an address. The log cannot filter by key, so the page selects the events.
 */
const KEY = "key_prefix";

/** The filters of an address, and the key whose events the page selects. */
export interface Selection {
  filters: Filters;
  /** The prefix of the key, or an empty text. */
  key_prefix: string;
}

/** Reads the selection of an address. Unknown names are ignored. */
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

/** Returns the query parameters for the log. Filters without a value are omitted. */
export function queryOf(filters: Filters): Record<string, string> {
  return Object.fromEntries(
    FILTERS.map((name) => [name, filters[name].trim()] as const).filter(([, value]) => value !== ""),
  );
}

/** The maximum length of the text filters, except `route`. */
const TEXT_LENGTH_MAX = 128;
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** Returns the problems of the values of a filter form, by field name. */
export function problemsOf({ filters, key_prefix }: Selection): Problems {
  const { occurred_after, occurred_before } = filters;
  const texts = (["service", "actor_member_id", "request_id", "created_id"] as const).map((name) => [
    name,
    problemOf(filters[name], { length_max: TEXT_LENGTH_MAX, optional: true }),
  ]);
  return {
    ...Object.fromEntries(texts),
    [KEY]: problemOf(key_prefix, { length_max: TEXT_LENGTH_MAX, optional: true }),
    route: problemOfRoute(filters.route.trim()),
    occurred_after: problemOfTime(occurred_after),
    occurred_before: problemOfTime(occurred_before) ?? problemOfOrder(occurred_after, occurred_before),
  };
}

function problemOfRoute(route: string): Problem | null {
  const { maxLength: length_max = NO_LIMIT } = routeTemplate;
  const problem = problemOf(route, { length_max, optional: true });
  if (problem !== null || route === "") return problem;
  return Value.Check(routeTemplate, route) ? null : (texts) => texts.problems.route;
}

/**
 * Returns the problem of a time, or null. RFC 3339 allows only years of four digits; later years begin with a
 * sign.
 */
function problemOfTime(time: string): Problem | null {
  if (time === NO_TIME) return (texts) => texts.problems.time;
  return /^[+-]|^0000/.test(time) ? (texts) => texts.problems.year : null;
}

function problemOfOrder(after: string, before: string): Problem | null {
  const [from, end] = [Date.parse(after), Date.parse(before)];
  return from >= end ? (texts) => texts.problems.order : null;
}

/** Returns the query of an address for a selection. */
export function placeQueryOf({ filters, key_prefix }: Selection): Record<string, string> {
  return { ...queryOf(filters), ...(key_prefix === "" ? {} : { [KEY]: key_prefix }) };
}
