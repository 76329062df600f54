import { canonicalJson } from "./canonical-json.ts";
import { type Hash, sha256 } from "./chain.ts";

/** An event as the readers of one log see it. Only a person's log has `user_id`. */
export interface LoggedEvent {
  id: string;
  occurred_at: string;
  request_id: string;
  organization_id: string | null;
  user_id?: string | null;
  actor: { member_id: string | null; auth_type: string; key_prefix: string | null };
  service: string;
  method: string;
  route: string;
  params: Readonly<Record<string, string>>;
  ip: string;
  user_agent: string | null;
  outcome: string;
  status: number | null;
  details: Readonly<Record<string, unknown>> | null;
  created_id: string | null;
}

/**
 * The values of an intent that its outcome replaced: the outcome of a user route may name an organization and
 * a member. Null if the outcome named no organization.
 */
export type WrittenByIntent = { organization_id: string | null; member_id: string | null } | null;

/** Returns the text of an intent's entry, with the salt in hexadecimal. */
export function intentEntry(event: LoggedEvent, written: WrittenByIntent, salt: string): string {
  const { id, occurred_at, request_id, user_id, actor, service, method, route, ip, user_agent } = event;
  const by = written ?? { organization_id: event.organization_id, member_id: actor.member_id };
  return withMember(
    {
      actor: { auth_type: actor.auth_type, key_prefix: actor.key_prefix, member_id: by.member_id },
      id,
      ip,
      kind: "intent",
      method,
      occurred_at,
      organization_id: by.organization_id,
    },
    "params",
    event.params,
    { request_id, route, salt, service, user_agent, user_id },
  );
}

/**
 * Returns the text of an outcome's entry. The entry has an organization and a member only if the outcome
 * named them.
 */
export function outcomeEntry(event: LoggedEvent, written: WrittenByIntent, salt: string): string {
  const { id, request_id, outcome, status, created_id } = event;
  const named = written === null ? null : { of: event.organization_id, member_id: event.actor.member_id };
  return withMember({ created_id }, "details", event.details, {
    id,
    kind: "outcome",
    member_id: named?.member_id ?? null,
    organization_id: named?.of ?? null,
    outcome,
    request_id,
    salt,
    status,
  });
}

/**
 * Returns the canonical JSON of an object. Only the member `name` has untrusted content that needs
 * canonicalizing. The caller passes the other members in canonical order, so the faster `JSON.stringify` is
 * enough.
 */
function withMember(before: object, name: string, value: unknown, after: object): string {
  const [head, tail] = [JSON.stringify(before).slice(0, -1), JSON.stringify(after).slice(1)];
  return `${head},"${name}":${canonicalJson(value)},${tail}`;
}

export function entryHash(entry: string): Hash {
  return sha256(entry);
}
