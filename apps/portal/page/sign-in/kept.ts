import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

/**
 * The few things that outlive a visit to the identity provider, for this tab alone. No token of the provider
 * or the gateway is among them.
 */
const Attempt = Type.Object({
  state: Type.String(),
  nonce: Type.String(),
  verifier: Type.String(),
  /** The fragment to return to. */
  fragment: Type.String(),
  /** Whether the provider was asked not to show a page. */
  silent: Type.Boolean(),
});
/** A sign-in that is under way at the provider. */
export type Attempt = Static<typeof Attempt>;

const ATTEMPT = "ostiary.portal.attempt";
const INVITE = "ostiary.portal.invite";
const SIGNED_IN = "ostiary.portal.signed-in";

export function keepAttempt(attempt: Attempt): void {
  sessionStorage.setItem(ATTEMPT, JSON.stringify(attempt));
}

/** Returns the attempt and forgets it: each attempt ends with one return from the provider. */
export function takeAttempt(): Attempt | null {
  return take(ATTEMPT, Attempt);
}

/** Keeps the token of an invitation until somebody has signed in to redeem it. */
export function keepInvite(token: string): void {
  sessionStorage.setItem(INVITE, JSON.stringify(token));
}

export function readInvite(): string | null {
  return read(INVITE, Type.String());
}

export function forgetInvite(): void {
  sessionStorage.removeItem(INVITE);
}

/** Whether somebody was signed in in this tab, so that a reload signs in again without a question. */
export function keepSignedIn(signed_in: boolean): void {
  if (signed_in) sessionStorage.setItem(SIGNED_IN, "true");
  else sessionStorage.removeItem(SIGNED_IN);
}

export function wasSignedIn(): boolean {
  return read(SIGNED_IN, Type.Boolean()) === true;
}

function take<Schema extends TSchema>(key: string, schema: Schema): Static<Schema> | null {
  const value = read(key, schema);
  sessionStorage.removeItem(key);
  return value;
}

function read<Schema extends TSchema>(key: string, schema: Schema): Static<Schema> | null {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(key) ?? "null");
    return Value.Check(schema, value) ? value : null;
  } catch {
    return null;
  }
}
