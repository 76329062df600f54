import {
  USAGE_ID_LENGTH_MAX,
  USAGE_KEY_PREFIX_LENGTH_MAX,
  type UsageCount,
} from "@ostiary/lib/contracts/usage-contract";
import { ApiError } from "@ostiary/lib/domain/errors";
import { isIJsonText } from "@ostiary/lib/domain/json";
import type { CompiledRoute } from "@ostiary/lib/domain/routes";
import type { Principal } from "../admission/principal.ts";
import { ClientGone } from "../upstream/call.ts";

export interface EndedRequest {
  readonly principal: Principal | null;
  readonly route: Pick<CompiledRoute, "service" | "path" | "method">;
  readonly receivedAtMs: number;
  readonly forwarded: boolean;
  readonly bytes_in: number;
  readonly bytes_out: number;
}

type Route = EndedRequest["route"];

/** The counts of one principal's requests on one route within one hour. */
type Tally = ReturnType<typeof emptyTally>;

const TOO_MANY_REQUESTS = 429;
const FORBIDDEN = 403;
const HOUR_MS = 3_600_000;
/** All tallies move to the counts at this number, since principals that are not cached need a new tally each. */
const TALLIES_MAX = 4_096;
const COUNTS_MAX = 100_000;

/**
 * Counts the usage of organizations (GW-186). Each request adds to a tally. A tally is found by the objects
 * of the principal and the route, because building a string key would cost more. Tallies later move to
 * counts, which are found by the names of principal and route.
 */
export class UsageCounter {
  readonly #countsMax: number;
  #tallies = new Map<Principal, Map<Route, Tally>>();
  #tallied = 0;
  /** The start of the hour of the tallies. `#endsMs` is its end. */
  #startsMs = 0;
  #endsMs = 0;
  /** The counts that wait for a report, by the names of principal, route and hour. */
  readonly #counts = new Map<string, UsageCount>();
  #uncounted = 0;
  #uncountedTotal = 0;

  constructor(countsMax = COUNTS_MAX) {
    this.#countsMax = countsMax;
  }

  get waiting(): number {
    return this.#counts.size + this.#tallied;
  }

  /** Number of requests since the start that could not be counted or reported. */
  get uncounted(): number {
    return this.#uncountedTotal;
  }

  /**
   * Counts a request of an organization. Other requests are not counted.
   *
   * @param status the status of the response, or null if the client left before the response
   * @param failure why the gateway refused the request or could not finish it
   */
  count(request: EndedRequest, status: number | null, failure: Error | null, duration_ms: number): void {
    const { principal, receivedAtMs } = request;
    if (principal === null || principal.organization_id === null) return;
    if (receivedAtMs < this.#startsMs || receivedAtMs >= this.#endsMs) this.#turnTo(receivedAtMs);
    const tally = this.#tallies.get(principal)?.get(request.route) ?? this.#begin(principal, request.route);
    tally.requests += 1;
    tally.bytes_in += request.bytes_in;
    tally.bytes_out += request.bytes_out;
    tally.duration_ms += duration_ms;
    if (failure === null && (status === null || status < 500)) return;
    const end = refusedOrFailed(request.forwarded, status, failure);
    if (end !== null) tally[end] += 1;
  }

  take(max: number): UsageCount[] {
    this.#settle();
    const taken: UsageCount[] = [];
    for (const [name, count] of this.#counts) {
      if (taken.length === max) break;
      taken.push({ ...count, duration_ms: Math.round(count.duration_ms) });
      this.#counts.delete(name);
    }
    return taken;
  }

  /** Removes and returns the number of uncounted requests that no report has named yet. */
  takeUncounted(): number {
    const uncounted = this.#uncounted;
    this.#uncounted = 0;
    return uncounted;
  }

  /** Adds `requests` to the number of uncounted requests, because no accepted report contains them. */
  lose(requests: number): void {
    this.#uncounted += requests;
    this.#uncountedTotal += requests;
  }

  /**
   * Begins the hour that contains `timeMs`. This can be an earlier hour than the hour of the tallies, because
   * a request counts in the hour of its arrival.
   */
  #turnTo(timeMs: number): void {
    this.#settle();
    this.#startsMs = Math.floor(timeMs / HOUR_MS) * HOUR_MS;
    this.#endsMs = this.#startsMs + HOUR_MS;
  }

  #begin(principal: Principal, route: Route): Tally {
    if (this.#tallied >= TALLIES_MAX) this.#settle();
    const tally = emptyTally();
    const ofPrincipal = this.#tallies.get(principal);
    if (ofPrincipal === undefined) this.#tallies.set(principal, new Map([[route, tally]]));
    else ofPrincipal.set(route, tally);
    this.#tallied += 1;
    return tally;
  }

  #settle(): void {
    if (this.#tallied === 0) return;
    const hour = new Date(this.#startsMs).toISOString();
    for (const [principal, ofPrincipal] of this.#tallies) {
      for (const [route, tally] of ofPrincipal) {
        const count = this.#countOf(principal, route, hour);
        if (count === null) this.lose(tally.requests);
        else addTo(count, tally);
      }
    }
    this.#tallies = new Map();
    this.#tallied = 0;
  }

  /** Returns the count of a principal's requests on a route, or null if they cannot be counted. */
  #countOf(principal: Principal, route: Route, hour: string): UsageCount | null {
    const { organization_id, member_id } = principal;
    if (!isCountable(organization_id) || !isCountable(member_id)) return null;
    const key_prefix = keyPrefixOf(principal);
    const { service, path, method } = route;
    const name = JSON.stringify([organization_id, hour, service, path, method, member_id, key_prefix]);
    const known = this.#counts.get(name);
    if (known !== undefined) return known;
    if (this.#counts.size >= this.#countsMax) return null;
    const named = { organization_id, hour, service, route: path, method, member_id, key_prefix };
    const count: UsageCount = { ...named, ...noUsage() };
    this.#counts.set(name, count);
    return count;
  }
}

function addTo(count: UsageCount, tally: Tally): void {
  count.requests += tally.requests;
  count.refused.limit += tally.refused_limit;
  count.refused.labels += tally.refused_labels;
  count.refused.other += tally.refused_other;
  count.failed += tally.failed;
  count.bytes_in += tally.bytes_in;
  count.bytes_out += tally.bytes_out;
  count.duration_ms += tally.duration_ms;
}

/** Returns the prefix of an API key, or null for a session, which counts only for its member. */
function keyPrefixOf({ auth_type, key_prefix }: Principal): string | null {
  if (key_prefix === null || auth_type === "member_session") return null;
  return key_prefix.slice(0, USAGE_KEY_PREFIX_LENGTH_MAX);
}

function emptyTally() {
  return {
    requests: 0,
    refused_limit: 0,
    refused_labels: 0,
    refused_other: 0,
    failed: 0,
    bytes_in: 0,
    bytes_out: 0,
    duration_ms: 0,
  };
}

function noUsage() {
  return {
    requests: 0,
    refused: { limit: 0, labels: 0, other: 0 },
    failed: 0,
    bytes_in: 0,
    bytes_out: 0,
    duration_ms: 0,
  };
}

/** Returns whether the audit service accepts an id. Ids come from identity and can have any form. */
export function isCountable(id: string | null): id is string {
  return (
    id !== null && id !== "" && id.length <= USAGE_ID_LENGTH_MAX && !id.includes("\0") && isIJsonText(id)
  );
}

/**
 * Returns the count of usage to which a refused or failed request is added (GW-187). Returns null if the client left,
 * or sent a body that is too large or too slow.
 *
 * @param status the status of the response, or null if the client left before the response
 */
function refusedOrFailed(
  forwarded: boolean,
  status: number | null,
  failure: Error | null,
): "refused_limit" | "refused_labels" | "refused_other" | "failed" | null {
  if (status === null || failure instanceof ClientGone) return null;
  if (forwarded) return failure instanceof ApiError && failure.status < 500 ? null : "failed";
  if (status === TOO_MANY_REQUESTS) return "refused_limit";
  return status === FORBIDDEN ? "refused_labels" : "refused_other";
}
