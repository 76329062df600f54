import { accessSync, constants, statSync } from "node:fs";
import { type TBoolean, type TInteger, type TOptional, type TString, Type } from "@sinclair/typebox";
import { isStorableSubject } from "../../contracts/admission.ts";
import {
  checkDatabaseUrl,
  isBindAddress,
  isHttpBaseUrl,
  isHttpUrl,
  isKeyPair,
  isRouteStoreUrl,
  listItems,
} from "./url-checks.ts";

/**
 * The options of a variable's schema, whose `rule` is the text for an operator. An empty variable counts as unset,
 * unless its schema has `refuseEmpty`.
 */
interface VariableOptions {
  description?: string;
  default?: string;
  pattern?: string;
  /** Returns a text for a problem that the rule does not name. */
  check?: (value: string) => boolean | string;
  /** Whether the value can come from a file that `NAME_FILE` names. */
  secret?: boolean;
}

export function requiredText(rule: string, options: VariableOptions = {}): TString {
  return Type.String({ minLength: 1, rule, ...options });
}

export function textOr(
  fallback: string,
  rule: string,
  options: VariableOptions & { refuseEmpty?: boolean } = {},
): TString {
  return Type.String({ minLength: 1, default: fallback, rule, ...options });
}

export function optionalText(rule: string, options: VariableOptions = {}): TOptional<TString> {
  return Type.Optional(requiredText(rule, options));
}

interface DefaultedRange {
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

export function integer({ min, max, ...fallback }: DefaultedRange, description?: string): TInteger {
  return { ...wholeNumber(min, max, description), ...fallback };
}

export function wholeNumber(minimum: number, maximum: number, description?: string): TInteger {
  const rule = `must be a whole number from ${minimum} to ${maximum}`;
  return Type.Integer({ minimum, maximum, rule, description });
}

export function optionalInteger(minimum: number, maximum: number, description?: string): TOptional<TInteger> {
  return Type.Optional(wholeNumber(minimum, maximum, description));
}

/** Port 0 binds a free port. */
export function port(fallback: number, description: string): TInteger {
  return integer({ default: fallback, min: 0, max: 65_535 }, description);
}

export function host(fallback: string): TString {
  return textOr(fallback, "must be an IP address or a host name to bind, such as 0.0.0.0 or 127.0.0.1", {
    check: isBindAddress,
    description: "The address on which both ports listen; 0.0.0.0 means every IPv4 address of this machine.",
  });
}

export function flag(fallback: boolean, description?: string): TBoolean {
  return Type.Boolean({ default: fallback, rule: "must be true or false", description });
}

export function httpUrl(description?: string): TString {
  return requiredText("must be an absolute http:// or https:// URL", { check: isHttpUrl, description });
}

export function optionalHttpUrl(description?: string): TOptional<TString> {
  return Type.Optional(httpUrl(description));
}

/** Paths can be appended to the URL. */
export function optionalBaseUrl(description?: string): TOptional<TString> {
  return optionalText("must be an absolute http:// or https:// URL without query and fragment", {
    check: isHttpBaseUrl,
    description,
  });
}

export function optionalList(
  rule: string,
  isItem: (item: string) => boolean,
  description?: string,
): TOptional<TString> {
  // An empty list would be interpreted as "no restriction".
  const check = (value: string) => listItems(value).length > 0 && listItems(value).every(isItem);
  return optionalText(rule, { check, description });
}

export function bodyBytesMax(fallback: number): TInteger {
  return integer(
    { default: fallback, min: 0, max: Number.MAX_SAFE_INTEGER },
    "The maximum size of a request body in bytes. Larger bodies get 413; 0 means no limit.",
  );
}

export function requestsInFlightMax(fallback: number): TInteger {
  return integer(
    { default: fallback, min: 1, max: 1_000_000 },
    "The maximum number of requests in flight. Further requests get 503.",
  );
}

/** The issuer of persons' tokens (GW-46). */
export function authIssuer(description: string): TString {
  return requiredText(
    "must be the issuer string of your identity provider, of at most 255 characters, without spaces around it",
    { check: (issuer) => issuer === issuer.trim() && isStorableSubject(issuer), description },
  );
}

export function databaseUrl(description: string): TString {
  return requiredText(
    "must be postgres://user:password@host:port/name, pglite:///absolute/directory or pglite://memory. Escape special characters of the password (%40 for @). Write further host:port pairs after commas. ?sslmode=verify-full turns TLS on; DATABASE_CA_FILE, DATABASE_CERT_FILE and DATABASE_KEY_FILE name its files. target_session_attrs can be primary or read-write",
    { check: checkDatabaseUrl, secret: true, description },
  );
}

export function routeStoreUrl(fallback = "http://localhost:2379"): TString {
  return textOr(
    fallback,
    "must be memory://, or the http://host:port of one or more etcd nodes, separated by commas. If one node uses https, all must use it, with host names instead of IP addresses",
    {
      check: isRouteStoreUrl,
      secret: true,
      description:
        "The etcd with the routes. Add user:password@ if etcd requires a user. Only the platform accepts memory://.",
    },
  );
}

const VISIBLE_ASCII = "^[\\x21-\\x7e]+$";

/** The token that the gateway sends to identity and audit (`X-Platform-Internal-Token`). */
export function internalAuthToken(): TOptional<TString> {
  return optionalText(
    "must be the token that the services share, of visible ASCII characters without spaces",
    {
      pattern: VISIBLE_ASCII,
      secret: true,
      description:
        "The X-Platform-Internal-Token that the gateway sends, and that identity and audit require. Without a value, they admit every caller of their internal port.",
    },
  );
}

/** `key=value` pairs, percent-encoded and separated by commas, as in the variables of OpenTelemetry. */
export function keyPairs(description: string): TOptional<TString> {
  return optionalList(
    "must be key=value pairs separated by commas, with other commas and percent signs escaped (%2C, %25)",
    isKeyPair,
    description,
  );
}

export function readableFile(description: string): TOptional<TString> {
  return optionalText("must be a file that this user may read", { check: isReadableFile, description });
}

export function swaggerEnabled(): TBoolean {
  return flag(true, "false removes the API pages and their descriptions.");
}

function isReadableFile(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
