import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { ErrorEnvelope, FieldError } from "../domain/errors/index.ts";

/**
 * The reason why a call failed.
 *
 * - `signed_out`: the service does not accept the credential, and a renewal failed or did not help (401)
 * - `forbidden`: the role of the caller grants too little (403)
 * - `missing`: no resource has this id, or the caller may not see the resource (404)
 * - `conflict`: the state of the resource prevents the call (409, 412)
 * - `invalid`: the input breaks a rule (400, 413, 422)
 * - `limited`: a rate limit was reached, and waiting did not help or would take too long (429)
 * - `unavailable`: the service does not respond (5xx, no network)
 * - `unexpected`: the response has an unknown form
 */
export type FailureKind =
  | "signed_out"
  | "forbidden"
  | "missing"
  | "conflict"
  | "invalid"
  | "limited"
  | "unavailable"
  | "unexpected";

export interface Failure {
  readonly kind: FailureKind;
  readonly code: string | null;
  /** The message of the service. Empty if there is none. */
  readonly message: string;
  readonly fields: readonly FieldError[];
  readonly details: Readonly<Record<string, unknown>>;
  readonly status: number | null;
  readonly request_id: string | null;
  readonly retry_after_seconds: number | null;
  /** Whether the call may have made a change although it failed. */
  readonly outcomeUnknown: boolean;
}

export type Result<Value> = { ok: true; value: Value } | { ok: false; failure: Failure };

export function succeeded<Value>(value: Value): Result<Value> {
  return { ok: true, value };
}

export function failed(kind: FailureKind, known: Partial<Failure> = {}): { ok: false; failure: Failure } {
  return {
    ok: false,
    failure: {
      kind,
      code: null,
      message: "",
      fields: [],
      details: {},
      status: null,
      request_id: null,
      retry_after_seconds: null,
      outcomeUnknown: false,
      ...known,
    },
  };
}

/** Returns the failure for an error response. `writes` says whether the call may change something. */
export function failureOf(
  response: Pick<Response, "ok" | "status" | "headers">,
  body: unknown,
  writes: boolean,
) {
  const { status, headers } = response;
  const retry_after_seconds = secondsOf(headers.get("Retry-After"));
  const unknown = writes && status >= 500;
  if (!Value.Check(ErrorEnvelope, body)) {
    const kind = status >= 500 ? "unavailable" : "unexpected";
    // An unknown response to a write may come from a service that made the change.
    return failed(kind, { status, retry_after_seconds, outcomeUnknown: unknown || (writes && response.ok) });
  }
  const { code, message, request_id, details } = body.error;
  return failed(kindOf(status), {
    status,
    code,
    message,
    request_id,
    retry_after_seconds,
    fields: entriesOf(details ?? {}, "fields", FieldError),
    details: details ?? {},
    outcomeUnknown: unknown,
  });
}

function kindOf(status: number): FailureKind {
  if (status >= 500) return "unavailable";
  return KINDS[status] ?? "unexpected";
}

const KINDS: Readonly<Record<number, FailureKind>> = {
  400: "invalid",
  401: "signed_out",
  403: "forbidden",
  404: "missing",
  409: "conflict",
  412: "conflict",
  413: "invalid",
  422: "invalid",
  429: "limited",
};

/** Returns the entries of a list in the details of a failure, without those that do not match the schema. */
export function entriesOf<Entry extends TSchema>(
  details: Failure["details"],
  name: string,
  entry: Entry,
): Static<Entry>[] {
  const list: unknown = details[name];
  return Array.isArray(list) ? list.filter((each) => Value.Check(entry, each)) : [];
}

/** Parses a Retry-After in seconds, the only form that services send. Returns null for other values. */
function secondsOf(header: string | null): number | null {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : null;
}
