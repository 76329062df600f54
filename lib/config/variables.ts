import { type TBoolean, type TInteger, type TOptional, type TString, Type } from "@sinclair/typebox";

/**
 * Constructors for environment variables. Each gives a TypeBox schema with a `rule`: the sentence an operator
 * reads when the value breaks it. A variable that is set but empty counts as unset, unless `refuseEmpty`.
 */
export interface VariableOptions {
  description?: string;
  /** The value must also parse as a URL. */
  url?: boolean;
}

/** Free text, required. */
export function text(rule: string, options: VariableOptions & { pattern?: string } = {}): TString {
  return Type.String({ minLength: 1, rule, ...options });
}

/** Free text with a default. */
export function textOr(
  fallback: string,
  rule: string,
  options: VariableOptions & { pattern?: string; refuseEmpty?: boolean } = {},
): TString {
  return Type.String({ minLength: 1, default: fallback, rule, ...options });
}

/** Free text that may be absent. */
export function optionalText(
  rule: string,
  options: VariableOptions & { pattern?: string } = {},
): TOptional<TString> {
  return Type.Optional(Type.String({ minLength: 1, rule, ...options }));
}

/** A whole number with a default and bounds. */
export function whole(fallback: number, minimum: number, maximum: number, description?: string): TInteger {
  return Type.Integer({
    default: fallback,
    minimum,
    maximum,
    rule: `must be a whole number from ${minimum} to ${maximum}`,
    description,
  });
}

/** A TCP port; 0 binds a free one. */
export function port(fallback: number): TInteger {
  return whole(fallback, 0, 65_535, "TCP port; 0 binds a free one.");
}

/** `true` or `false`. */
export function flag(fallback: boolean, description?: string): TBoolean {
  return Type.Boolean({ default: fallback, rule: "must be true or false", description });
}

/** An absolute http or https URL, required. */
export function httpUrl(description?: string): TString {
  return text("must be an absolute http:// or https:// URL", { pattern: HTTP_URL, url: true, description });
}

/** An absolute http or https URL that may be absent. */
export function optionalHttpUrl(description?: string): TOptional<TString> {
  return optionalText("must be an absolute http:// or https:// URL", {
    pattern: HTTP_URL,
    url: true,
    description,
  });
}

/** Where a service keeps its data (contract 1). */
export function databaseUrl(): TString {
  return text(
    "must be postgres://user:password@host:port/name, pglite:///absolute/directory or pglite://memory",
    {
      pattern: "^(postgres(ql)?://[^\\s/]+.*|pglite://memory|pglite:///[^/].*)$",
    },
  );
}

/** Where routes are projected to and watched (contract 1). */
export function routeStoreUrl(): TString {
  return textOr(
    "http://localhost:2379",
    "must be http://host:port of etcd, several of them separated by commas, or memory://",
    { pattern: "^(memory://|https?://[^\\s/?#,]+/?(\\s*,\\s*https?://[^\\s/?#,]+/?)*)$" },
  );
}

const HTTP_URL = "^https?://[^\\s/?#]+[^\\s]*$";
