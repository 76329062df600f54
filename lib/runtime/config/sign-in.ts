import type { TOptional, TString } from "@sinclair/typebox";
import { isOrigin, listItems } from "./addresses.ts";
import { optionalList, optionalText, textOr, type VariableOptions } from "./variables.ts";

/** Returns the rule for the client id of a page. */
export function clientIdRule(page: string): string {
  return `must be the client id that the identity provider gave to the ${page}`;
}

/**
 * Returns the options of a variable that holds the client id of a page: a check of the value, and
 * `description`.
 */
export function clientIdOptions(description: string): VariableOptions {
  return { check: isVisible, description };
}

/** Returns the schema of the scopes that a page requests. */
export function signInScopes(page: string): TString {
  return textOr("openid profile", "must be scopes separated by single spaces, including openid", {
    check: areScopes,
    description: `The scopes that the ${page} requests. With \`offline_access\`, the ${page} renews a sign-in without a redirect to the identity provider.`,
  });
}

/** Returns the schema of the audience that a page requests. */
export function signInAudience(): TOptional<TString> {
  return optionalText("must be an audience without spaces", {
    check: isVisible,
    description:
      "The audience to request. Some identity providers issue access tokens only for a named audience.",
  });
}

/** Returns the schema of the additional origins that a page may call. */
export function providerOrigins(): TOptional<TString> {
  return optionalList(
    "must be origins such as https://login.example.com, separated by commas",
    isWebOrigin,
    "Further origins that the page may call, for a provider with endpoints outside of its issuer's origin.",
  );
}

/**
 * Returns the origins that a page calls in addition to its own: the issuer's origin, and those of
 * {@link providerOrigins}.
 */
export function signInOrigins(issuer: string, further = ""): string[] {
  return [...new Set([new URL(issuer).origin, ...listItems(further)])];
}

function isVisible(text: string): boolean {
  return /^[\x21-\x7e]{1,512}$/.test(text);
}

function areScopes(text: string): boolean {
  return (
    /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(text) &&
    text.split(" ").includes("openid")
  );
}

/** Returns whether the text is an origin that a Content-Security-Policy can name. */
function isWebOrigin(text: string): boolean {
  return isOrigin(text) && /^https?:\/\/[A-Za-z0-9.:[\]-]+$/.test(text);
}
