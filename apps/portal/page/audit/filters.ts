import { routeTemplate } from "@ostiary/lib/contracts/audit";
import { NO_TIME } from "@ostiary/lib/page";
import { Value } from "@sinclair/typebox/value";
import { type Problem, type Problems, problemOf } from "../parts/use-problems.ts";

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

/** The values of the filters. An empty value means no filter. */
export type Filters = Readonly<Record<FilterName, string>>;

export const OUTCOMES = ["pending", "rejected", "responded", "no_response"] as const;

/**
 * The query parameter in the page's fragment that holds the prefix of an API key. The audit service cannot
 * filter by key, so the page filters the loaded events.
 */
const KEY = "key_prefix";

/** The filters that the audit service applies, and the key by which the page filters the loaded events. */
export interface Selection {
  filters: Filters;
  /** The prefix of the API key. Empty for events of all keys. */
  key_prefix: string;
}

/** Reads a selection from the query in the page's fragment. Ignores unknown parameters. */
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

/** Returns the query parameters for the audit service. Omits filters without a value. */
export function queryOf(filters: Filters): Record<string, string> {
  return Object.fromEntries(
    FILTERS.map((name) => [name, filters[name].trim()] as const).filter(([, value]) => value !== ""),
  );
}

/** The maximum length of each text filter except `route`. */
const TEXT_LENGTH_MAX = 128;
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** Returns the problem of each value in the filter form by field name, or null for a valid value. */
export function problemsOf({ filters, key_prefix }: Selection): Problems {
  const { occurred_after, occurred_before } = filters;
  const texts = (["service", "actor_member_id", "request_id", "created_id"] as const).map((name) => [
    name,
    problemOf(filters[name], { lengthMax: TEXT_LENGTH_MAX, optional: true }),
  ]);
  return {
    ...Object.fromEntries(texts),
    [KEY]: problemOf(key_prefix, { lengthMax: TEXT_LENGTH_MAX, optional: true }),
    route: problemOfRoute(filters.route.trim()),
    occurred_after: problemOfTime(occurred_after),
    occurred_before: problemOfTime(occurred_before) ?? problemOfOrder(occurred_after, occurred_before),
  };
}

function problemOfRoute(route: string): Problem | null {
  const { maxLength: lengthMax = NO_LIMIT } = routeTemplate;
  const problem = problemOf(route, { lengthMax, optional: true });
  if (problem !== null || route === "") return problem;
  return Value.Check(routeTemplate, route) ? null : (texts) => texts.problems.route;
}

/**
 * Returns the problem of a time, or null. The page accepts the years 1 to 9999. An ISO time with another year
 * begins with a sign or with 0000.
 */
function problemOfTime(time: string): Problem | null {
  if (time === NO_TIME) return (texts) => texts.problems.time;
  return /^[+-]|^0000/.test(time) ? (texts) => texts.problems.year : null;
}

function problemOfOrder(after: string, before: string): Problem | null {
  const [from, end] = [Date.parse(after), Date.parse(before)];
  return from >= end ? (texts) => texts.problems.order : null;
}

/** Returns the query parameters in the page's fragment for a selection. */
export function placeQueryOf({ filters, key_prefix }: Selection): Record<string, string> {
  return { ...queryOf(filters), ...(key_prefix === "" ? {} : { [KEY]: key_prefix }) };
}
