import {
  authIssuer,
  isHttpBaseUrl,
  isOrigin,
  listenVariables,
  listItems,
  optionalText,
  requestsInFlightMax,
  requiredText,
  textOr,
} from "@ostiary/lib/runtime/config";
import { type Static, Type } from "@sinclair/typebox";

/** The languages that the page has texts for. */
export const LANGUAGES = ["en", "de"] as const;
export type Language = (typeof LANGUAGES)[number];

const ORIGINS_RULE = "must be origins such as https://login.example.com, separated by commas";

/** The portal's environment variables (OP-5, PT-2). */
export const portalVariables = Type.Object({
  ...listenVariables({ host: "0.0.0.0", port: 3004, internal_port: 3005 }),
  AUTH_ISSUER: {
    ...authIssuer("The issuer that customers sign in at: the gateway's AUTH_ISSUER."),
    check: (issuer: string) => issuer === issuer.trim() && isHttpBaseUrl(issuer),
    rule: "must be the issuer of your identity provider, an http:// or https:// URL without query and fragment",
  },
  PORTAL_CLIENT_ID: requiredText("must be the client id that the identity provider gave to the portal", {
    check: isVisible,
    description:
      "The portal's client id at the identity provider. The portal is a public client, without a secret.",
  }),
  PORTAL_SCOPES: textOr("openid profile", "must be scopes separated by single spaces, openid among them", {
    check: areScopes,
    description:
      "The scopes that the portal asks for. `offline_access` lets it renew a sign-in without the provider's page.",
  }),
  PORTAL_AUDIENCE: optionalText("must be an audience without spaces", {
    check: isVisible,
    description: "The audience of access tokens, for a provider that must be asked for one.",
  }),
  PORTAL_PROVIDER_ORIGINS: optionalText(ORIGINS_RULE, {
    check: (text) => listItems(text).length > 0 && listItems(text).every(isWebOrigin),
    description:
      "Further origins that the page may call, for a provider whose endpoints are not at its issuer's origin.",
  }),
  PORTAL_BRAND_FILE: optionalText("must be the path of a brand file", {
    description: "YAML with name, logo, colors and links of the page.",
  }),
  PORTAL_LANGUAGES: textOr(
    LANGUAGES.join(","),
    `must be languages of ${LANGUAGES.join(", ")}, separated by commas, each once`,
    {
      check: areLanguages,
      description:
        "The languages that the page offers. The first one is for browsers that ask for none of them.",
    },
  ),
  MAX_REQUESTS_IN_FLIGHT: requestsInFlightMax(2_000),
});

export type PortalConfig = Readonly<Static<typeof portalVariables>>;

function isVisible(text: string): boolean {
  return /^[\x21-\x7e]{1,512}$/.test(text);
}

function areScopes(text: string): boolean {
  return (
    /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(text) &&
    text.split(" ").includes("openid")
  );
}

function areLanguages(text: string): boolean {
  const items = listItems(text);
  const known: readonly string[] = LANGUAGES;
  return (
    items.length > 0 && items.every((item) => known.includes(item)) && new Set(items).size === items.length
  );
}

/** Returns whether the text is an origin that a Content-Security-Policy can name. */
function isWebOrigin(text: string): boolean {
  return isOrigin(text) && /^https?:\/\/[A-Za-z0-9.:[\]-]+$/.test(text);
}
