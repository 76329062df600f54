import {
  isHttpBaseUrl,
  listenVariables,
  listItems,
  optionalInteger,
  optionalText,
  type Program,
  providerOrigins,
  requestsInFlightMax,
  signInAudience,
  signInClientId,
  signInScopes,
  textOr,
} from "@ostiary/lib/runtime/config";
import { type Static, Type } from "@sinclair/typebox";

export const LANGUAGES = ["en", "de"] as const;
export type Language = (typeof LANGUAGES)[number];

/** The portal's environment variables (OP-5, PT-2). */
export const portalVariables = Type.Object({
  ...listenVariables({ host: "0.0.0.0", port: 3004, internal_port: 3005 }),
  AUTH_ISSUER: optionalText(
    "must be the issuer of your identity provider, an http:// or https:// URL without query and fragment",
    {
      check: (issuer) => issuer === issuer.trim() && isHttpBaseUrl(issuer),
      description:
        "The issuer that customers sign in at: the gateway's AUTH_ISSUER. Required unless the brand file has `issuers`.",
    },
  ),
  PORTAL_CLIENT_ID: signInClientId(
    "portal",
    "The portal's client id at AUTH_ISSUER. The portal is a public client, without a secret. Required unless the brand file has `issuers`.",
  ),
  PORTAL_SCOPES: signInScopes("portal"),
  PORTAL_AUDIENCE: signInAudience(),
  PORTAL_PROVIDER_ORIGINS: providerOrigins(),
  PORTAL_BRAND_FILE: optionalText("must be the path of a brand file", {
    description:
      "The YAML file with the name, logo, colors and links of the page, and with `issuers` if customers sign in at several.",
  }),
  PORTAL_LANGUAGES: textOr(
    LANGUAGES.join(","),
    `must be one or more of ${LANGUAGES.join(", ")}, separated by commas, each once`,
    {
      check: areLanguages,
      description:
        "The languages that the page offers. Browsers that prefer none of these languages get the first one.",
    },
  ),
  PORTAL_WITNESS_KEYS_FILE: optionalText("must be the path of a file with a verifier key on each line", {
    description:
      "The file with the verifier keys of the witnesses that must have cosigned each log that the page verifies. Read at start.",
  }),
  PORTAL_WITNESS_QUORUM: optionalInteger(
    1,
    100,
    "How many witnesses of PORTAL_WITNESS_KEYS_FILE must have cosigned a log; default: all.",
  ),
  PORTAL_WITNESS_ORIGIN: optionalText("must be 1 to 255 visible ASCII characters without a plus sign", {
    check: (text) => /^[!-*,-~]{1,255}$/.test(text),
    description: "The name that each log must have: the audit service's AUDIT_LOG_ORIGIN.",
  }),
  MAX_REQUESTS_IN_FLIGHT: requestsInFlightMax(2_000),
});

export const portalProgram: Program = {
  app: "portal",
  about:
    "The portal is the customers' page: they sign in with your identity provider and work in their organizations.",
  variables: portalVariables,
};

export type PortalConfig = Readonly<Static<typeof portalVariables>>;

function areLanguages(text: string): boolean {
  const items = listItems(text);
  const known: readonly string[] = LANGUAGES;
  return (
    items.length > 0 && items.every((item) => known.includes(item)) && new Set(items).size === items.length
  );
}
