/**
 * The credential string (ID-77): `{brand}-{k|s}-2-{secret}`, or in version 1 `{brand}-{sk|mk|ms}-1-{secret}`.
 *
 * A secret can contain hyphens but a brand cannot, so the string is read from the left. Parsing is one pass
 * without regular expressions, because the gateway parses a credential on every request with a key.
 */

/**
 * The kind of a credential: an API key (`k`) or a session (`s`). In version 1, a user key (`sk`), a member key
 * (`mk`) or a session (`ms`).
 */
export type CredentialKind = "k" | "s" | "sk" | "mk" | "ms";

export interface ParsedCredential {
  readonly brand: string;
  readonly kind: CredentialKind;
  readonly version: 1 | 2;
  /** The part that may be shown and logged: the prefix and the first four characters of the secret. */
  readonly displayPrefix: string;
}

const BRAND_LENGTH_MAX = 32;
export const SECRET_BYTES = 32;
/** The number of characters in a secret: its bytes in base64url without padding. */
const SECRET_LENGTH = 43;
const DISPLAY_LENGTH = 4;

/** The forms of a credential string: `infix` is the text between brand and secret. */
const WIRE_FORMS = [
  { kind: "k", version: 2, infix: "-k-2-" },
  { kind: "s", version: 2, infix: "-s-2-" },
  { kind: "sk", version: 1, infix: "-sk-1-" },
  { kind: "mk", version: 1, infix: "-mk-1-" },
  { kind: "ms", version: 1, infix: "-ms-1-" },
] as const satisfies readonly { kind: CredentialKind; version: 1 | 2; infix: string }[];

/** Parses a credential string. Returns null for any text that is not exactly one of the known forms. */
export function parseCredential(text: string): ParsedCredential | null {
  const brandEnd = text.indexOf("-");
  if (brandEnd < 1 || brandEnd > BRAND_LENGTH_MAX) return null;
  const form = WIRE_FORMS.find(({ infix }) => text.startsWith(infix, brandEnd));
  if (form === undefined) return null;
  const secretStart = brandEnd + form.infix.length;
  if (text.length !== secretStart + SECRET_LENGTH) return null;
  if (!isBrandPart(text, brandEnd) || !isBase64urlFrom(text, secretStart)) return null;
  return {
    brand: text.slice(0, brandEnd),
    kind: form.kind,
    version: form.version,
    displayPrefix: text.slice(0, secretStart + DISPLAY_LENGTH),
  };
}

/** Returns the display prefix of a credential string, or null if the string is malformed. */
export function displayPrefix(text: string): string | null {
  return parseCredential(text)?.displayPrefix ?? null;
}

/**
 * Formats a new credential of the current version.
 *
 * @throws RangeError if the brand is invalid or the secret does not have {@link SECRET_BYTES} bytes
 */
export function formatCredential(brand: string, kind: "k" | "s", secretBytes: Uint8Array): string {
  if (!isBrand(brand)) throw new RangeError("The brand is not valid.");
  if (secretBytes.byteLength !== SECRET_BYTES)
    throw new RangeError(`A secret must have ${SECRET_BYTES} bytes.`);
  return `${brand}-${kind}-2-${secretBytes.toBase64({ alphabet: "base64url", omitPadding: true })}`;
}

/** Returns whether `brand` is a valid brand: a lower-case letter, then lower-case letters and digits. */
export function isBrand(brand: string): boolean {
  return brand.length <= BRAND_LENGTH_MAX && isBrandPart(brand, brand.length);
}

function isBrandPart(text: string, end: number): boolean {
  if (end < 1 || !isLowerCase(text.charCodeAt(0))) return false;
  for (let index = 1; index < end; index++) {
    const code = text.charCodeAt(index);
    if (!isLowerCase(code) && !isDigit(code)) return false;
  }
  return true;
}

function isBase64urlFrom(text: string, start: number): boolean {
  for (let index = start; index < text.length; index++) {
    const code = text.charCodeAt(index);
    const allowed = isLowerCase(code | 0x20) || isDigit(code) || code === 0x2d || code === 0x5f;
    if (!allowed) return false;
  }
  return true;
}

function isLowerCase(code: number): boolean {
  return code >= 0x61 && code <= 0x7a;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/**
 * Returns the SHA-256 of a credential string in hex. The hash is stored, looked up and used as a cache key
 * instead of the string (ID-81).
 */
export function hashCredential(text: string): string {
  return Bun.SHA256.hash(text, "hex");
}
