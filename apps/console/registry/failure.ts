import type { NearestRoute } from "@ostiary/lib/contracts/registry-api";
import { type ErrorEnvelope, type FieldError, reasonOf } from "@ostiary/lib/domain/errors";
import { isRecord } from "@ostiary/lib/domain/json";
import type { OutOfBounds } from "@ostiary/lib/domain/routes";

/** A route of a refused write. Another service owns the route. */
interface Conflict {
  service: string;
  method: string;
  path: string;
  owner: string;
  owner_path?: string;
}

/**
 * The reason why a request failed.
 * - `refused`: the registry does not accept the token (401)
 * - `provider`: the identity provider does not answer, so there is no token
 * - `forbidden`: the operator is not allowed to make this write (403)
 * - `away`: the registry does not answer, or is unavailable (5xx)
 * - `invalid`: the input breaks a rule (422, 413)
 * - `conflict`: another service owns a route (409)
 * - `stale`: another write came first (412)
 * - `unreadable`: another version of Ostiary wrote the revision (409)
 * - `missing`: no service has this name, or the service has no such revision (404)
 * - `strange`: the response is not from a registry, or is from another version of the registry
 */
export type FailureKind =
  | "refused"
  | "provider"
  | "forbidden"
  | "away"
  | "invalid"
  | "conflict"
  | "stale"
  | "unreadable"
  | "missing"
  | "strange";

interface FailureDetails {
  fields?: readonly FieldError[];
  conflicts?: readonly Conflict[];
  nearest?: readonly NearestRoute[];
  /** The parts of a forbidden write that the operator may not publish. */
  missing?: readonly OutOfBounds[];
  /** The id of the request in the registry's log. */
  request_id?: string;
  /** Whether a failed write may have taken effect. */
  outcomeUnknown?: boolean;
}

export class Failure extends Error {
  readonly kind: FailureKind;
  readonly fields: readonly FieldError[];
  readonly conflicts: readonly Conflict[];
  readonly nearest: readonly NearestRoute[];
  readonly missing: readonly OutOfBounds[];
  readonly request_id: string | null;
  readonly outcomeUnknown: boolean;

  constructor(kind: FailureKind, message: string, details: FailureDetails = {}) {
    super(message);
    this.kind = kind;
    this.fields = details.fields ?? [];
    this.conflicts = details.conflicts ?? [];
    this.nearest = details.nearest ?? [];
    this.missing = details.missing ?? [];
    this.request_id = details.request_id ?? null;
    this.outcomeUnknown = details.outcomeUnknown ?? false;
  }
}

const KINDS: Readonly<Record<string, FailureKind>> = {
  UNAUTHORIZED: "refused",
  FORBIDDEN: "forbidden",
  VALIDATION_ERROR: "invalid",
  PAYLOAD_TOO_LARGE: "invalid",
  ROUTE_CONFLICT: "conflict",
  PRECONDITION_FAILED: "stale",
  CONFLICT: "unreadable",
  NOT_FOUND: "missing",
};

/**
 * Converts an error response of the registry to a failure.
 *
 * @param writes whether the request may have changed something
 */
export function failureOf(status: number, { error }: ErrorEnvelope, writes: boolean): Failure {
  const kind = KINDS[error.code] ?? (status >= 500 ? "away" : "strange");
  const { fields, conflicts, nearest, missing } = error.details ?? {};
  return new Failure(kind, error.message, {
    fields: listOf(fields, isFieldError),
    conflicts: listOf(conflicts, isConflict),
    nearest: listOf(nearest, isNearest),
    missing: listOf(missing, isOutOfBounds),
    request_id: error.request_id,
    outcomeUnknown: writes && status >= 500,
  });
}

function listOf<Entry>(value: unknown, is: (entry: unknown) => entry is Entry): Entry[] {
  return Array.isArray(value) ? value.filter(is) : [];
}

const hasTexts = (value: unknown, ...names: string[]) =>
  isRecord(value) && names.every((name) => typeof value[name] === "string");

const isFieldError = (value: unknown): value is FieldError => hasTexts(value, "path", "message");
const isConflict = (value: unknown): value is Conflict =>
  hasTexts(value, "service", "method", "path", "owner");
const isOutOfBounds = (value: unknown): value is OutOfBounds =>
  hasTexts(value, "service") &&
  ["path", "url", "policy"].every((part) => !(part in Object(value)) || hasTexts(value, part));
const isNearest = (value: unknown): value is NearestRoute =>
  hasTexts(value, "service", "scope", "method", "path");

/** Returns a `Failure` unchanged, and wraps any other exception, such as a bug of the page. */
export function asFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  return new Failure("strange", `The console failed: ${reasonOf(thrown)}`);
}
