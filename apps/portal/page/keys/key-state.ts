import type { ApiKey } from "@ostiary/lib/contracts/identity-api";

const DAY_MS = 86_400_000;
/** A key that expires within this time has the state `ends_soon` (PT-70). */
const SOON_MS = 30 * DAY_MS;

type KeyState = "revoked" | "expired" | "ends_soon" | "valid";

/** Returns whether a key works, and whether it ends soon. */
export function keyState(
  { revoked_at, expires_at }: Pick<ApiKey, "revoked_at" | "expires_at">,
  nowMs: number,
): KeyState {
  if (revoked_at !== null) return "revoked";
  if (expires_at === null) return "valid";
  const leftMs = Date.parse(expires_at) - nowMs;
  if (leftMs <= 0) return "expired";
  return leftMs <= SOON_MS ? "ends_soon" : "valid";
}
