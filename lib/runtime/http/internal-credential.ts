import type { Credential } from "./openapi.ts";

/** The credential of every internal port. */
export const INTERNAL_CREDENTIAL = {
  name: "internal_token",
  scheme: { type: "apiKey", in: "header", name: "X-Platform-Internal-Token" },
  description: "The value of INTERNAL_AUTH_TOKEN, if that variable is set.",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text is a variable in code samples
  sample: ["X-Platform-Internal-Token", "${INTERNAL_AUTH_TOKEN}"],
} as const satisfies Credential;
