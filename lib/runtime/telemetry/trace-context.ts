/**
 * Reads and writes W3C Trace Context, level 1 with the additions of level 2: the `traceparent` and
 * `tracestate` headers (GW-84). Random bytes are an argument, so the functions are pure. Every request comes
 * through here, so headers are read by character code in one pass.
 */

/** The caller's span from its traceparent. */
export interface TraceParent {
  /** The trace id: 32 lowercase hexadecimal digits, not all zero. */
  trace_id: string;
  /** The span id: 16 lowercase hexadecimal digits, not all zero. */
  parent_id: string;
  /** True when the caller may have recorded its span. */
  sampled: boolean;
  /** The flag of level 2: the trace id is random, so its last bytes can be used for sampling. */
  random: boolean;
}

/** A generator of trace ids and span ids. */
export interface TraceIds {
  traceId(): string;
  spanId(): string;
}

const SAMPLED = 1;
const RANDOM = 2;
const LENGTH = 55;
const ZERO_TRACE_ID = "0".repeat(32);
const ZERO_SPAN_ID = "0".repeat(16);
const STATE_LENGTH_MAX = 512;
const STATE_MEMBERS_MAX = 32;
const STATE_LONG_MEMBER = 128;
const KEY_LENGTH_MAX = 256;
const VALUE_LENGTH_MAX = 256;

const TAB = 0x09;
const SPACE = 0x20;
const COMMA = 0x2c;
const DASH = 0x2d;
const EQUALS = 0x3d;
const TILDE = 0x7e;

/**
 * Reads a traceparent. Returns null for an invalid one, and the caller starts a new trace. Versions above 00
 * are read as 00 and may have more data after a dash. Several headers arrive joined by a comma, which no
 * version allows.
 */
export function parseTraceparent(value: string): TraceParent | null {
  if (value.length < LENGTH || !hasTraceparentShape(value)) return null;
  if (value.startsWith("ff")) return null;
  if (value.length > LENGTH && (value.startsWith("00") || value.charCodeAt(LENGTH) !== DASH)) return null;
  const trace_id = value.slice(3, 35);
  const parent_id = value.slice(36, 52);
  if (trace_id === ZERO_TRACE_ID || parent_id === ZERO_SPAN_ID) return null;
  const flags = hexDigit(value.charCodeAt(54));
  return { trace_id, parent_id, sampled: (flags & SAMPLED) !== 0, random: (flags & RANDOM) !== 0 };
}

function hasTraceparentShape(value: string): boolean {
  for (let at = 0; at < LENGTH; at++) {
    const code = value.charCodeAt(at);
    const fits = at === 2 || at === 35 || at === 52 ? code === DASH : hexDigit(code) >= 0;
    if (!fits) return false;
  }
  return true;
}

/** Returns the value of a lowercase hexadecimal digit, or -1 for any other character. */
function hexDigit(code: number): number {
  if (isDigit(code)) return code - 0x30;
  return code >= 0x61 && code <= 0x66 ? code - 0x57 : -1;
}

/**
 * Returns a traceparent of version 00. The flag `random` is passed on with its trace id. Other flags have no
 * meaning yet and are sent as zero.
 */
export function formatTraceparent(
  trace_id: string,
  span_id: string,
  sampled: boolean,
  random = false,
): string {
  if (random) return `00-${trace_id}-${span_id}-${sampled ? "03" : "02"}`;
  return `00-${trace_id}-${span_id}-${sampled ? "01" : "00"}`;
}

/**
 * Reads the tracestate of a valid traceparent. Returns the value to send on, or null if it is empty or
 * malformed. A malformed tracestate never affects the trace. Beyond 512 characters whole members are dropped,
 * long ones first, then from the end. A key that occurs twice is kept as received.
 */
export function parseTracestate(value: string): string | null {
  let members = 0;
  let filled = false;
  for (let start = 0; start <= value.length; ) {
    if (++members > STATE_MEMBERS_MAX) return null;
    const comma = value.indexOf(",", start);
    const end = comma === -1 ? value.length : comma;
    const from = skipSpace(value, start, end);
    if (from < end) {
      if (!isMember(value, from, trimEnd(value, from, end))) return null;
      filled = true;
    }
    start = end + 1;
  }
  if (!filled) return null;
  const trimmed = value.slice(skipSpace(value, 0, value.length), trimEnd(value, 0, value.length));
  return trimmed.length > STATE_LENGTH_MAX ? shorten(trimmed) : trimmed;
}

function isMember(value: string, from: number, end: number): boolean {
  const equals = value.indexOf("=", from);
  if (equals === -1 || equals >= end) return false;
  return isKey(value, from, equals) && isMemberValue(value, equals + 1, end);
}

/**
 * Returns whether the range is a key of level 2: a letter or digit, then also `_ - * / @`. Level 1 allowed
 * the `@` in one place only.
 */
function isKey(value: string, from: number, end: number): boolean {
  const length = end - from;
  if (length === 0 || length > KEY_LENGTH_MAX) return false;
  const first = value.charCodeAt(from);
  return (isLowercase(first) || isDigit(first)) && hasKeyCharacters(value, from, end);
}

function hasKeyCharacters(value: string, from: number, end: number): boolean {
  for (let at = from; at < end; at++) {
    const code = value.charCodeAt(at);
    // _ - * / @
    const mark = code === 0x5f || code === DASH || code === 0x2a || code === 0x2f || code === 0x40;
    if (!mark && !isLowercase(code) && !isDigit(code)) return false;
  }
  return true;
}

/**
 * Returns whether the range is a value: printable ASCII without comma and equals sign. `end` excludes
 * trailing spaces.
 */
function isMemberValue(value: string, from: number, end: number): boolean {
  const length = end - from;
  if (length === 0 || length > VALUE_LENGTH_MAX) return false;
  for (let at = from; at < end; at++) {
    const code = value.charCodeAt(at);
    if (code < SPACE || code > TILDE || code === COMMA || code === EQUALS) return false;
  }
  return true;
}

function isLowercase(code: number): boolean {
  return code >= 0x61 && code <= 0x7a;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function skipSpace(value: string, from: number, end: number): number {
  let at = from;
  while (at < end && isSpace(value.charCodeAt(at))) at++;
  return at;
}

function trimEnd(value: string, from: number, end: number): number {
  let at = end;
  while (at > from && isSpace(value.charCodeAt(at - 1))) at--;
  return at;
}

function isSpace(code: number): boolean {
  return code === SPACE || code === TAB;
}

/** Drops whole members until the list fits: those over 128 characters first, then any, always from the end. */
function shorten(state: string): string | null {
  const members = state
    .split(",")
    .map((member) => member.trim())
    .filter((member) => member !== "");
  let length = members.reduce((sum, member) => sum + member.length + 1, -1);
  for (const longerThan of [STATE_LONG_MEMBER, 0]) {
    for (let at = members.length - 1; at >= 0 && length > STATE_LENGTH_MAX; at--) {
      const size = members[at]?.length ?? 0;
      if (size <= longerThan) continue;
      members.splice(at, 1);
      length -= size + 1;
    }
  }
  return members.length === 0 ? null : members.join(",");
}

const POOL_BYTES = 8_192;
const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;

/**
 * Creates ids from a source that fills a buffer with random bytes, such as `crypto.getRandomValues`. The
 * source fills 8 KiB at a time, because a call for each id would cost more than the id.
 */
export function createTraceIds(fill: (bytes: Uint8Array<ArrayBuffer>) => unknown): TraceIds {
  const pool = Buffer.from(new ArrayBuffer(POOL_BYTES));
  let used = POOL_BYTES;
  const take = (bytes: number): string => {
    if (used + bytes > POOL_BYTES) {
      fill(pool);
      used = 0;
    }
    const id = pool.toString("hex", used, used + bytes);
    used += bytes;
    return id;
  };
  return {
    traceId: () => notZero(take(TRACE_ID_BYTES), ZERO_TRACE_ID),
    spanId: () => notZero(take(SPAN_ID_BYTES), ZERO_SPAN_ID),
  };
}

/** Returns the id, or a replacement for the all-zero id, which means "none". */
function notZero(id: string, zero: string): string {
  return id === zero ? `${zero.slice(1)}1` : id;
}
