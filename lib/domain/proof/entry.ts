import { type Static, Type } from "@sinclair/typebox";
import canonicalize from "canonicalize";
import { type Hash, hexOf, sha256 } from "./chain.ts";
import { MONTH_PATTERN, TIME_PATTERN } from "./months.ts";

/**
 * Returns a JSON value as canonical JSON (RFC 8785).
 *
 * @throws Error if the value contains half of a surrogate pair, which I-JSON does not have
 */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new Error("The value is not JSON.");
  return text;
}

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
 * The mark of an outcome that named an organization and a member: the event shows these, and
 * `intent_member_id` is the member that the intent had written. Null for any other outcome, and for a pending event.
 */
export type NamedByOutcome = { intent_member_id: string | null } | null;

/** Returns the content of an intent as canonical JSON, with the salt in hexadecimal (AU-51). */
export function intentContent(event: LoggedEvent, named: NamedByOutcome, salt: string): string {
  const { id, occurred_at, request_id, user_id, actor, service, method, route, ip, user_agent } = event;
  const { auth_type, key_prefix } = actor;
  const member_id = named === null ? actor.member_id : named.intent_member_id;
  const organization_id = named === null ? event.organization_id : null;
  return withMember(
    {
      actor: { auth_type, key_prefix, member_id },
      id,
      ip,
      kind: "intent",
      method,
      occurred_at,
      organization_id,
    },
    "params",
    event.params,
    { request_id, route, salt, service, user_agent, user_id },
  );
}

/** Returns the content of an outcome as canonical JSON, with the salt in hexadecimal (AU-52). */
export function outcomeContent(event: LoggedEvent, named: NamedByOutcome, salt: string): string {
  const { id, request_id, outcome, status, created_id } = event;
  return withMember({ created_id }, "details", event.details, {
    id,
    kind: "outcome",
    member_id: named === null ? null : event.actor.member_id,
    organization_id: named === null ? null : event.organization_id,
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

/** Returns the hash of the content of an intent or outcome. It stays when retention drops the content. */
export function contentHash(content: string): Hash {
  return sha256(content);
}

/**
 * Returns `SHA-256(entry_n)` of an intent or outcome: the entry is the hash of its content and the month of its
 * event. The hash proves the month of a dropped entry without the entry's content.
 */
export function eventEntryHash(content: Hash, month: string): Hash {
  return sha256(`{"content":"${hexOf(content)}","month":"${month}"}`);
}

const closed = { additionalProperties: false };
/** The time of a declaration: RFC 3339, UTC, milliseconds. */
const declared_at = Type.String({ pattern: TIME_PATTERN });

/**
 * The declaration that retention drops the events of a month and of all months before. It is an entry of the chain
 * from before the drop.
 */
export const Retention = Type.Object({ month: Type.String({ pattern: MONTH_PATTERN }), declared_at }, closed);
export type Retention = Static<typeof Retention>;

/**
 * The declaration of an operator that rows of the chain cannot be restored: entries from position `from` up to this
 * declaration may be missing or altered. The chain continues from its sealed head.
 */
export const Restart = Type.Object(
  { from: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), declared_at },
  closed,
);
export type Restart = Static<typeof Restart>;

/** An entry of a chain that no event wrote. */
export type Declaration = ({ kind: "retention" } & Retention) | ({ kind: "restart" } & Restart);

/** Returns `SHA-256(entry_n)` of a declaration, with the salt in hexadecimal. */
export function declarationHash(owner: string, declaration: Declaration, salt: string): Hash {
  const { kind, declared_at } = declaration;
  const what = kind === "retention" ? { month: declaration.month } : { from: declaration.from };
  return sha256(canonicalJson({ ...what, declared_at, kind, owner, salt }));
}
