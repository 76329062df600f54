import type { NearestRoute } from "@ostiary/lib/contracts/registry-api";
import type { ErrorEnvelope, FieldError } from "@ostiary/lib/domain/errors";

/** A route that another service has, of a refused write. */
export interface Conflict {
  service: string;
  method: string;
  path: string;
  owner: string;
  owner_path?: string;
}

/**
 * Why there is no answer.
 * - `refused`: the admin token is not the registry's (401)
 * - `away`: nobody answered, or the registry can not work now (5xx)
 * - `invalid`: what was sent breaks a rule (422, 413)
 * - `conflict`: another service has a route (409)
 * - `stale`: somebody else wrote meanwhile (412)
 * - `missing`: there is nothing of this name (404)
 * - `strange`: what answers is no registry, or one of another version
 */
export type FailureKind = "refused" | "away" | "invalid" | "conflict" | "stale" | "missing" | "strange";

interface FailureDetails {
  fields?: readonly FieldError[];
  conflicts?: readonly Conflict[];
  nearest?: readonly NearestRoute[];
  /** Names the request in the registry's log. */
  request_id?: string;
  /** Of a write: it may have happened all the same. */
  outcome_unknown?: boolean;
}

export class Failure extends Error {
  readonly kind: FailureKind;
  readonly fields: readonly FieldError[];
  readonly conflicts: readonly Conflict[];
  readonly nearest: readonly NearestRoute[];
  readonly request_id: string | null;
  readonly outcome_unknown: boolean;

  constructor(kind: FailureKind, message: string, details: FailureDetails = {}) {
    super(message);
    this.kind = kind;
    this.fields = details.fields ?? [];
    this.conflicts = details.conflicts ?? [];
    this.nearest = details.nearest ?? [];
    this.request_id = details.request_id ?? null;
    this.outcome_unknown = details.outcome_unknown ?? false;
  }
}

const KINDS: Readonly<Record<string, FailureKind>> = {
  UNAUTHORIZED: "refused",
  VALIDATION_ERROR: "invalid",
  PAYLOAD_TOO_LARGE: "invalid",
  ROUTE_CONFLICT: "conflict",
  PRECONDITION_FAILED: "stale",
  NOT_FOUND: "missing",
};

/** The failure that an error of the registry is. `writes`: whether the request may have changed something. */
export function failureOf(status: number, { error }: ErrorEnvelope, writes: boolean): Failure {
  const kind = KINDS[error.code] ?? (status >= 500 ? "away" : "strange");
  const { fields, conflicts, nearest } = error.details ?? {};
  return new Failure(kind, error.message, {
    fields: listOf(fields, isFieldError),
    conflicts: listOf(conflicts, isConflict),
    nearest: listOf(nearest, isNearest),
    request_id: error.request_id,
    outcome_unknown: writes && status >= 500,
  });
}

function listOf<Entry>(value: unknown, is: (entry: unknown) => entry is Entry): Entry[] {
  return Array.isArray(value) ? value.filter(is) : [];
}

const hasTexts = (value: unknown, ...names: string[]) =>
  typeof value === "object" &&
  value !== null &&
  names.every((name) => typeof Reflect.get(value, name) === "string");

const isFieldError = (value: unknown): value is FieldError => hasTexts(value, "path", "message");
const isConflict = (value: unknown): value is Conflict =>
  hasTexts(value, "service", "method", "path", "owner");
const isNearest = (value: unknown): value is NearestRoute =>
  hasTexts(value, "service", "scope", "method", "path");

/** Whatever was thrown, as a failure: a fault of the page itself is one too. */
export function asFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  return new Failure("strange", `The console failed: ${thrown instanceof Error ? thrown.message : thrown}`);
}
