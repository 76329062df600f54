/** Bytes and classes of bytes in the grammar of HTTP/1.1 (RFC 9110, sections 5.5 and 5.6.2). */

export const TAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const ZERO = 0x30;
export const NINE = 0x39;
export const COLON = 0x3a;
export const SEMICOLON = 0x3b;

/** A table with 1 for each byte that can occur in a token, such as a field name. */
export const IS_TOKEN = new Uint8Array(256);
for (const char of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
  IS_TOKEN[char.charCodeAt(0)] = 1;
}

/**
 * A table with 1 for each byte that can occur in a field value or a reason phrase: printable ASCII, space,
 * tab and bytes above 0x7f.
 */
export const IS_TEXT = new Uint8Array(256);
for (let byte = 0; byte < 256; byte++) {
  IS_TEXT[byte] = byte === TAB || (byte >= SPACE && byte !== 0x7f) ? 1 : 0;
}

/** A table with the value of each hexadecimal digit, and {@link NOT_HEX} for all other bytes. */
export const HEX_VALUE = new Uint8Array(256).fill(0xff);
export const NOT_HEX = 0xff;
for (let digit = 0; digit < 16; digit++) {
  const char = digit.toString(16);
  HEX_VALUE[char.charCodeAt(0)] = digit;
  HEX_VALUE[char.toUpperCase().charCodeAt(0)] = digit;
}

/**
 * The error for a response that is not valid HTTP/1.1, or whose end is ambiguous. The connection must be
 * closed. The message names the broken rule and never quotes the response, so it can be logged.
 */
export class MalformedResponse extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "MalformedResponse";
  }
}
