import { timingSafeEqual } from "node:crypto";
import { Elysia } from "elysia";
import { INTERNAL_PREFIX, INTERNAL_TOKEN_HEADER } from "../../contracts/internal-api.ts";
import { ApiError } from "../../domain/errors/index.ts";
import type { Credential } from "./openapi.ts";

/** Compares two secrets in constant time. */
function equalSecrets(given: string, expected: string): boolean {
  return timingSafeEqual(
    Bun.SHA256.hash(given, Buffer.alloc(32)),
    Bun.SHA256.hash(expected, Buffer.alloc(32)),
  );
}

/**
 * Requires the token on every path below `/internal/` before the request is read. If no token is configured, every
 * caller passes (AU-31, ID-89).
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

export const INTERNAL_CREDENTIAL = {
  name: "internal_token",
  scheme: { type: "apiKey", in: "header", name: "X-Platform-Internal-Token" },
  description: "The value of INTERNAL_AUTH_TOKEN, if that variable is set.",
  sample: { name: "X-Platform-Internal-Token", variable: "INTERNAL_AUTH_TOKEN" },
} as const satisfies Credential;
