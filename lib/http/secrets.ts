import { timingSafeEqual } from "node:crypto";
import { ApiError } from "../errors/index.ts";

/** Compares two secrets in time that depends on neither. */
export function equalSecrets(given: string, expected: string): boolean {
  return timingSafeEqual(
    Bun.SHA256.hash(given, Buffer.alloc(32)),
    Bun.SHA256.hash(expected, Buffer.alloc(32)),
  );
}

/**
 * Guard of internal endpoints: with a token configured, `X-Platform-Internal-Token` must carry it, else 401;
 * without one everyone passes (Identity specification, Authentication).
 */
export function internalTokenGuard(token: string | undefined): (request: Request) => void {
  if (token === undefined) return () => {};
  return (request) => {
    const given = request.headers.get("x-platform-internal-token");
    if (given === null || !equalSecrets(given, token)) throw new ApiError("UNAUTHORIZED", { kind: "auth" });
  };
}
