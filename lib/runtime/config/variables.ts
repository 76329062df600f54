import { type TBoolean, type TInteger, type TOptional, type TString, Type } from "@sinclair/typebox";
import {
  isBindAddress,
  isCounterStoreUrl,
  isDatabaseUrl,
  isHttpBaseUrl,
  isHttpUrl,
  isKeyPair,
  isRouteStoreUrl,
  listItems,
} from "./addresses.ts";
import { isAppendableFile, isReadableFile, isReadableFolder } from "./files.ts";

/**
 * Constructors for environment variables. Each gives a TypeBox schema with a `rule`: the sentence an operator
 * reads when the value breaks it. A variable that is set but empty counts as unset, unless `refuseEmpty`.
 */
export interface VariableOptions {
  description?: string;
  /** What counts when the variable is unset. */
  default?: string;
  pattern?: string;
  /** What the value must pass besides. */
  check?: (value: string) => boolean;
  /** It may be given as `NAME_FILE` too: the path of a file that holds it. */
  secret?: boolean;
}

/** Free text, required. */
export function requiredText(rule: string, options: VariableOptions = {}): TString {
  return Type.String({ minLength: 1, rule, ...options });
}

/** Free text with a default. */
export function textOr(
  fallback: string,
  rule: string,
  options: VariableOptions & { refuseEmpty?: boolean } = {},
): TString {
  return Type.String({ minLength: 1, default: fallback, rule, ...options });
}

/** Free text that may be absent. */
export function optionalText(rule: string, options: VariableOptions = {}): TOptional<TString> {
  return Type.Optional(requiredText(rule, options));
}

/** A whole number with a default and bounds. */
export function integer(fallback: number, minimum: number, maximum: number, description?: string): TInteger {
  return Type.Integer({
    default: fallback,
    minimum,
    maximum,
    rule: `must be a whole number from ${minimum} to ${maximum}`,
    description,
  });
}

/** A whole number with bounds that may be absent. */
export function optionalInteger(minimum: number, maximum: number, description?: string): TOptional<TInteger> {
  return Type.Optional(
    Type.Integer({
      minimum,
      maximum,
      rule: `must be a whole number from ${minimum} to ${maximum}`,
      description,
    }),
  );
}

/** A TCP port; 0 binds a free one. */
export function port(fallback: number, description: string): TInteger {
  return integer(fallback, 0, 65_535, `${description} 0 binds a free port.`);
}

/** The address that ports are bound to. */
export function host(fallback: string): TString {
  return textOr(fallback, "must be an IP address or a host name to bind, such as 0.0.0.0 or 127.0.0.1", {
    check: isBindAddress,
    description: "What both ports are bound to; 0.0.0.0 is every address of this machine.",
  });
}

/** `true` or `false`. */
export function flag(fallback: boolean, description?: string): TBoolean {
  return Type.Boolean({ default: fallback, rule: "must be true or false", description });
}

/** An absolute http or https URL, required. */
export function httpUrl(description?: string): TString {
  return requiredText("must be an absolute http:// or https:// URL", { check: isHttpUrl, description });
}

/** An absolute http or https URL that may be absent. */
export function optionalHttpUrl(description?: string): TOptional<TString> {
  return Type.Optional(httpUrl(description));
}

/** An absolute http or https URL that paths are added to, and that may be absent. */
export function optionalBaseUrl(description?: string): TOptional<TString> {
  return optionalText("must be an absolute http:// or https:// URL without query and fragment", {
    check: isHttpBaseUrl,
    description,
  });
}

/** Items separated by commas, each of which `isItem` accepts; may be absent. */
export function optionalList(
  rule: string,
  isItem: (item: string) => boolean,
  description?: string,
): TOptional<TString> {
  // a list of nothing would mean everything
  const check = (value: string) => listItems(value).length > 0 && listItems(value).every(isItem);
  return optionalText(rule, { check, description });
}

/** The size that a request body may have. */
export function bodyBytesMax(fallback: number): TInteger {
  return integer(fallback, 0, Number.MAX_SAFE_INTEGER, "Larger request bodies are 413; 0 is no limit.");
}

/** How many requests a service has under way at once, whatever they wait for. */
export function requestsInFlightMax(fallback: number): TInteger {
  return integer(
    fallback,
    1,
    1_000_000,
    "Requests under way; more are 503. At the gateway streams and WebSockets count too.",
  );
}

/** Where a service keeps its data (contract 1). */
export function databaseUrl(description: string): TString {
  return requiredText(
    "must be postgres://user:password@host:port/name, more of host:port after commas, with special characters of the password escaped (%40 for @), ?sslmode=verify-full for TLS (its files by DATABASE_CA_FILE, DATABASE_CERT_FILE and DATABASE_KEY_FILE) and no target_session_attrs but primary or read-write; pglite:///absolute/directory or pglite://memory",
    { check: isDatabaseUrl, secret: true, description },
  );
}

/** Where routes are projected to and watched (contract 1). */
export function routeStoreUrl(fallback = "http://localhost:2379"): TString {
  return textOr(
    fallback,
    "must be http://host:port of etcd, several of them separated by commas, all by http or all by https, which wants names of hosts and no addresses; or memory://",
    {
      check: isRouteStoreUrl,
      secret: true,
      description:
        "Where routes are published and watched. user:password@ where etcd asks for it; memory:// in the platform only.",
    },
  );
}

/** Where requests are counted (contract 1); required without a fallback. */
export function counterStoreUrl(fallback?: string): TString {
  return requiredText(
    "must be redis://host:port, rediss://host:port, redis+cluster://host:port,host:port, rediss+cluster://host:port,host:port or memory://",
    {
      check: isCounterStoreUrl,
      secret: true,
      description: "Rate-limit counters, shared by all replicas; memory:// counts in each process alone.",
      default: fallback,
    },
  );
}

const VISIBLE_ASCII = "^[\\x21-\\x7e]+$";

/** The bearer token of the registry's admin API. */
export function adminToken(): TString {
  return requiredText("must be the admin API's bearer token, of visible ASCII characters without spaces", {
    pattern: VISIBLE_ASCII,
    secret: true,
    description: "Whoever sends it may publish and delete routes.",
  });
}

/** What the gateway sends to identity and audit, and they ask for (`X-Platform-Internal-Token`). */
export function internalAuthToken(): TOptional<TString> {
  return optionalText(
    "must be the token that the services share, of visible ASCII characters without spaces",
    {
      pattern: VISIBLE_ASCII,
      secret: true,
      description:
        "The gateway sends it as X-Platform-Internal-Token, identity and audit ask for it. Unset, there, lets everyone in who reaches the internal port.",
    },
  );
}

/** `key=value` pairs separated by commas, percent-encoded, as OpenTelemetry's variables have them. */
export function keyPairs(description: string): TOptional<TString> {
  return optionalList(
    "must be key=value pairs separated by commas, with other commas and percent signs escaped (%2C, %25)",
    isKeyPair,
    description,
  );
}

/** A file that is read at start, which may be absent. */
export function readableFile(description: string): TOptional<TString> {
  return optionalText("must be a file that this user may read", { check: isReadableFile, description });
}

const PEPPER_LENGTH_MIN = 32;
/** A block of SHA-256. */
const PEPPER_LENGTH_MAX = 64;

/** A key for the hashes of secrets, which is kept apart from the database that holds them. */
export function pepper(description: string): TOptional<TString> {
  return optionalText(
    `must be ${PEPPER_LENGTH_MIN} to ${PEPPER_LENGTH_MAX} characters of visible ASCII without spaces, such as \`openssl rand -hex 32\` gives`,
    { pattern: `^[\\x21-\\x7e]{${PEPPER_LENGTH_MIN},${PEPPER_LENGTH_MAX}}$`, secret: true, description },
  );
}

/** Where log lines go. */
export function logFile(): TOptional<TString> {
  return optionalText("must be a file that this user may append to, or - for standard output", {
    check: isAppendableFile,
    description: "Where log lines go. Unset: standard output.",
  });
}

/** A folder of files to be read at start, which may be absent. */
export function optionalFolder(rule: string, description: string): TOptional<TString> {
  return optionalText(rule, { check: isReadableFolder, description });
}

/** The API's page and document. */
export function swaggerEnabled(): TBoolean {
  return flag(true, "false takes the pages of the API and their documents away.");
}

/** The operators' page of the registry. */
export function consoleEnabled(): TBoolean {
  return flag(true, "false takes the console, the operators' page at /console, away.");
}
