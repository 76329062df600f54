import { timingSafeEqual } from "node:crypto";
import { INTERNAL_PREFIX, INTERNAL_TOKEN_HEADER } from "../../contracts/internal-api.ts";
import { ApiError } from "../../domain/errors/index.ts";

/** Compares two secrets in time that depends on neither. */
export function equalSecrets(given: string, expected: string): boolean {
  return timingSafeEqual(
    Bun.SHA256.hash(given, Buffer.alloc(32)),
    Bun.SHA256.hash(expected, Buffer.alloc(32)),
  );
}

/**
 * Guard of internal endpoints, which probes and scrapes are not: with a token configured, `X-Platform-Internal-Token` must carry it, else 401;
 * without one everyone passes (Identity specification, Authentication).
 */
export function internalTokenGuard(token: string | undefined): (request: Request) => void {
  if (token === undefined) return () => {};
  return (request) => {
    if (!new URL(request.url).pathname.startsWith(INTERNAL_PREFIX)) return;
    const given = request.headers.get(INTERNAL_TOKEN_HEADER);
    if (given === null || !equalSecrets(given, token)) throw new ApiError("UNAUTHORIZED", { kind: "auth" });
  };
}
