import { isRecord, tryJson, tryUtf8 } from "../../domain/json/index.ts";
import { CredentialRefusal, shownValue } from "./credential-refusal.ts";

/** Longer tokens are refused without being parsed. The runtime's limit for all headers is twice as high. */
const TOKEN_LENGTH_MAX = 8_192;

/** Refuses a token that is too long, or does not have three parts. */
export function shapeRefusal(token: string): CredentialRefusal | null {
  if (token.length > TOKEN_LENGTH_MAX) return TOO_LONG;
  const first = token.indexOf(".");
  const second = token.indexOf(".", first + 1);
  const isCompact =
    first > 0 && second > first + 1 && second < token.length - 1 && !token.includes(".", second + 1);
  return isCompact ? null : NOT_A_JWT;
}

const TOO_LONG = new CredentialRefusal(
  "too_long",
  `The token is longer than ${TOKEN_LENGTH_MAX} characters.`,
);
const NOT_A_JWT = new CredentialRefusal(
  "not_a_jwt",
  "The token is not a signed JWT, which has three parts. An opaque or encrypted token is not accepted.",
);

/** The parameters are not validated. */
export type TokenHeader = Readonly<Record<string, unknown>>;

/** The claims of a token, which may not be verified. */
export type TokenClaims = Readonly<Record<string, unknown>>;

/** The three bytes of a UTF-8 byte order mark, encoded in base64url. */
const BYTE_ORDER_MARK = "77u_";

/**
 * Returns the header and the claims of a token without verifying them. Each token must have only one spelling, so every
 * part must be strict base64url (GW-42).
 */
export function readToken(token: string): { header: TokenHeader; claims: TokenClaims } | CredentialRefusal {
  const parts = token.split(".");
  if (!parts.every(isStrictBase64url)) {
    return new CredentialRefusal("malformed", "A part of the token is not strict base64url.");
  }
  const [header = "", payload = ""] = parts;
  if (header.startsWith(BYTE_ORDER_MARK) || payload.startsWith(BYTE_ORDER_MARK)) {
    return new CredentialRefusal("malformed", "The token has a byte order mark.");
  }
  const parsed = { header: parseObject(header), claims: parseObject(payload) };
  if (parsed.header === null) {
    return new CredentialRefusal("malformed", "The token's header is not a JSON object.");
  }
  if (parsed.claims === null) {
    return new CredentialRefusal("malformed", "The token's payload is not a JSON object in UTF-8.");
  }
  return { header: parsed.header, claims: parsed.claims };
}

/** An encoder writes neither padding, whitespace nor unused bits. Decoders would accept all three. */
function isStrictBase64url(text: string): boolean {
  return Buffer.from(text, "base64url").toString("base64url") === text;
}

function parseObject(part: string): Readonly<Record<string, unknown>> | null {
  const value = tryJson(tryUtf8(Buffer.from(part, "base64url")) ?? "", JSON.parse);
  return isRecord(value) ? value : null;
}

const TYPES: ReadonlySet<string> = new Set(["jwt", "at+jwt"]);
const TYPE_PREFIX = "application/";

/** A token that was made for another purpose must not identify anyone (RFC 8725, 3.11). */
export function typeRefusal({ typ }: TokenHeader): CredentialRefusal | null {
  if (typ === undefined || (typeof typ === "string" && TYPES.has(shortType(typ)))) return null;
  return new CredentialRefusal(
    "type",
    `The header's typ is ${shownValue(typ)}. It must be JWT, at+jwt or absent.`,
  );
}

function shortType(typ: string): string {
  const type = typ.toLowerCase();
  return type.startsWith(TYPE_PREFIX) ? type.slice(TYPE_PREFIX.length) : type;
}

/** Stands for the claim `tid` in an issuer that is a template. */
export const TENANT_PLACE = "{tenantid}";

/** The characters of a tenant's id. An id has at most {@link TENANT_LENGTH_MAX} of them. */
export const TENANT_CHARACTERS = "[A-Za-z0-9._-]";
export const TENANT_LENGTH_MAX = 64;
const TENANT = new RegExp(`^${TENANT_CHARACTERS}{1,${TENANT_LENGTH_MAX}}$`);

/** Returns whether `issuer`, with the token's `tid` for each {@link TENANT_PLACE}, is the token's `iss`. */
export function isIssuerOf(issuer: string, { iss, tid }: TokenClaims): boolean {
  if (!issuer.includes(TENANT_PLACE)) return issuer === iss;
  return typeof tid === "string" && TENANT.test(tid) && issuer.replaceAll(TENANT_PLACE, tid) === iss;
}
