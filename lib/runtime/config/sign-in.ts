import type { TOptional, TString } from "@sinclair/typebox";
import { isOrigin, listItems } from "./url-checks.ts";
import { optionalList, optionalText, textOr } from "./variables.ts";

export function signInClientId(page: string, description: string): TOptional<TString> {
  const rule = `must be the client id that the identity provider gave to the ${page}`;
  return optionalText(rule, { check: isVisible, description });
}

export function signInScopes(page: string): TString {
  return textOr("openid profile", "must be scopes separated by single spaces, including openid", {
    check: areScopes,
    description: `The scopes that the ${page} requests. With \`offline_access\`, the ${page} renews a sign-in without a redirect to the identity provider.`,
  });
}

export function signInAudience(): TOptional<TString> {
  return optionalText("must be an audience without spaces", {
    check: isVisible,
    description:
      "The audience to request. Some identity providers issue access tokens only for a named audience.",
  });
}

export function providerOrigins(): TOptional<TString> {
  return optionalList(
    "must be origins such as https://login.example.com, separated by commas",
    isWebOrigin,
    "Further origins that the page may call, for a provider with endpoints outside of its issuer's origin.",
  );
}

/** Returns the origins of the issuers, and those of {@link providerOrigins}. */
export function signInOrigins(issuers: readonly string[], further = ""): string[] {
  return [...new Set([...issuers.map((issuer) => new URL(issuer).origin), ...listItems(further)])];
}

/** Returns whether a text can be a client id or an audience. */
export function isVisible(text: string): boolean {
  return /^[\x21-\x7e]{1,512}$/.test(text);
}

/** Returns whether a text is scopes separated by single spaces, with `openid` among them. */
export function areScopes(text: string): boolean {
  return (
    /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(text) &&
    text.split(" ").includes("openid")
  );
}

function isWebOrigin(text: string): boolean {
  return isOrigin(text) && /^https?:\/\/[A-Za-z0-9.:[\]-]+$/.test(text);
}
