import type { ApiKey } from "@ostiary/lib/contracts/identity-api";
import { curlCommand } from "@ostiary/lib/openapi";
import type { Caller } from "../gateway.ts";

/** The API address of the keys of one owner: a person, a member, or a service account. */
export interface KeyAddress {
  readonly as: Caller;
  readonly path: readonly string[];
  /** The path of an example call that a key of this owner can make. */
  readonly example: string;
}

export const PERSON_KEY_ADDRESS: KeyAddress = { as: "person", path: ["user", "api-keys"], example: "/user" };
export const MEMBER_KEY_ADDRESS: KeyAddress = { as: "member", path: ["member", "api-keys"], example: "/org" };

export function serviceAccountKeys(service_account_id: string): KeyAddress {
  return {
    as: "member",
    path: ["org", "service-accounts", service_account_id, "api-keys"],
    example: "/org",
  };
}

/** A key that expires within this time has the state `ends_soon`. */
const SOON_MS = 14 * 86_400_000;

type KeyState = "revoked" | "expired" | "ends_soon" | "valid";

export function stateOf({ revoked_at, expires_at }: ApiKey, nowMs: number): KeyState {
  if (revoked_at !== null) return "revoked";
  if (expires_at === null) return "valid";
  const leftMs = Date.parse(expires_at) - nowMs;
  if (leftMs <= 0) return "expired";
  return leftMs <= SOON_MS ? "ends_soon" : "valid";
}

export function isUsable(key: ApiKey, nowMs: number): boolean {
  const state = stateOf(key, nowMs);
  return state === "valid" || state === "ends_soon";
}

/** Returns a curl command that makes the example call with a new key. */
export function curlOf({ example }: KeyAddress, key: string, origin: string): string {
  return curlCommand({
    method: "GET",
    origin,
    target: example,
    credential: null,
    headers: [["X-API-Key", key]],
    body: null,
  });
}
