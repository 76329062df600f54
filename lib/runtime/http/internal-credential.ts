import type { Credential } from "./openapi.ts";

export const INTERNAL_CREDENTIAL = {
  name: "internal_token",
  scheme: { type: "apiKey", in: "header", name: "X-Platform-Internal-Token" },
  description: "The value of INTERNAL_AUTH_TOKEN, if that variable is set.",
  sample: { name: "X-Platform-Internal-Token", variable: "INTERNAL_AUTH_TOKEN" },
} as const satisfies Credential;
