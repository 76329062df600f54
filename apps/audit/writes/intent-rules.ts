import { type AuditIntent, INTENT_SKEW_MS_MAX } from "@ostiary/lib/audit";
import type { FieldError } from "@ostiary/lib/errors";
import { isStorable, STORABLE_RULE } from "../text.ts";
import { parseTime } from "../time.ts";

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** Why `request_id` can't be one; empty when it can. */
export function requestIdProblems(request_id: string): FieldError[] {
  if (REQUEST_ID.test(request_id)) return [];
  return [{ path: "request_id", message: "request_id must be 1 to 128 visible ASCII characters." }];
}

/** What is wrong with an intent beyond its shape, at `now_ms` (Identity specification, Audit internal API). */
export function intentProblems(intent: AuditIntent, now_ms: number): FieldError[] {
  return [
    ...timeProblems(intent.occurred_at, now_ms),
    ...logProblems(intent),
    ...paramProblems(intent.params),
    ...textProblems(intent),
  ];
}

function timeProblems(occurred_at: string, now_ms: number): FieldError[] {
  const time = parseTime(occurred_at);
  if (time === null) {
    return [
      {
        path: "occurred_at",
        message: "occurred_at must be an RFC 3339 time such as 2026-01-31T12:00:00.000Z.",
      },
    ];
  }
  if (Math.abs(time.epochMilliseconds - now_ms) <= INTENT_SKEW_MS_MAX) return [];
  return [{ path: "occurred_at", message: "occurred_at must be within 24 hours of this service's clock." }];
}

function logProblems({ organization_id, user_id }: AuditIntent): FieldError[] {
  if (organization_id !== null || user_id !== null) return [];
  return [
    { path: "organization_id", message: "organization_id or user_id must be set: it says whose log it is." },
  ];
}

/** Checked by hand, since a JSON schema's patterns do not reach every name that JSON can spell. */
function paramProblems(params: Readonly<Record<string, unknown>>): FieldError[] {
  return Object.entries(params).flatMap(([name, value]) => {
    if (!isStorable(name) || name === "") {
      return [{ path: "params", message: `params names must not be empty and ${STORABLE_RULE}.` }];
    }
    if (typeof value !== "string") {
      return [{ path: `params.${name}`, message: `params.${name} must be a string.` }];
    }
    return isStorable(value) ? [] : [{ path: `params.${name}`, message: `params.${name} ${STORABLE_RULE}.` }];
  });
}

function textProblems(intent: AuditIntent): FieldError[] {
  const texts: Record<string, string | null> = {
    organization_id: intent.organization_id,
    user_id: intent.user_id,
    "actor.member_id": intent.actor.member_id,
    "actor.key_prefix": intent.actor.key_prefix,
    service: intent.service,
    method: intent.method,
    route: intent.route,
    ip: intent.ip,
    user_agent: intent.user_agent,
  };
  return unstorable(texts);
}

/** The texts that the log can't hold, by path. */
export function unstorable(texts: Readonly<Record<string, string | null | undefined>>): FieldError[] {
  return Object.entries(texts).flatMap(([path, text]) =>
    typeof text === "string" && !isStorable(text) ? [{ path, message: `${path} ${STORABLE_RULE}.` }] : [],
  );
}
