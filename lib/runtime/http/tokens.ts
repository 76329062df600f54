import { timingSafeEqual } from "node:crypto";
import { Elysia } from "elysia";
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
 * Asks for the internal token on every path below `/internal/`, unknown ones included, and before anything of the
 * request is read; else 401. Without a token configured everyone passes (Identity specification, Authentication).
 */
export function internalToken(token: string | undefined) {
  const app = new Elysia({ name: "internal-token" });
  if (token === undefined) return app;
  return app.onRequest(({ request }) => {
    if (!new URL(request.url).pathname.startsWith(INTERNAL_PREFIX)) return;
    const given = request.headers.get(INTERNAL_TOKEN_HEADER);
    if (given === null || !equalSecrets(given, token)) throw new ApiError("UNAUTHORIZED", { kind: "auth" });
  });
}
