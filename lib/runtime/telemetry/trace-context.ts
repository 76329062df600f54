/**
 * Parses and formats the W3C Trace Context headers `traceparent` and `tracestate` (GW-84). This file
 * implements level 1 with the additions of level 2. The functions are pure: callers supply the random bytes.
 */

/** The caller's span, as described by its traceparent. */
export interface TraceParent {
  /** The trace id: 32 lowercase hexadecimal digits, not all zero. */
  trace_id: string;
  /** The span id: 16 lowercase hexadecimal digits, not all zero. */
  parentId: string;
  /** Whether the caller may have recorded its span. */
  sampled: boolean;
  /** Whether the trace id is random, so samplers can use its last bytes. Level 2 added this flag. */
  random: boolean;
}

/** A generator of trace ids and span ids. */
export interface TraceIds {
  newTraceId(): string;
  newSpanId(): string;
}

const SAMPLED = 1;
const RANDOM = 2;
const LENGTH = 55;
const ZERO_TRACE_ID = "0".repeat(32);
const ZERO_SPAN_ID = "0".repeat(16);
const TRACEPARENT =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]([0-9a-f])(?:-|$)/;

const STATE_LENGTH_MAX = 512;
const STATE_MEMBERS_MAX = 32;
const STATE_LONG_MEMBER = 128;
/**
 * A member of a tracestate, or an empty member. The key follows level 2; level 1 allows `@` only once. The
 * value is printable ASCII without comma and equals sign, and does not end with a space.
 */
const MEMBER = /^[ \t]*(?:[a-z0-9][a-z0-9_*/@-]{0,255}=[ -+\--<>-~]{0,255}[!-+\--<>-~][ \t]*)?$/;

/**
 * Parses a traceparent. Returns null if it is invalid; the caller must start a new trace in this case.
 * Versions above 00 are read like 00, and may have more data after a dash. Several traceparent headers arrive
 * as one text with a comma, which is invalid in every version.
 */
export function parseTraceparent(value: string): TraceParent | null {
  if (value.length > LENGTH && value.startsWith("00")) return null;
  const [, trace_id, parentId, digit] = TRACEPARENT.exec(value) ?? [];
  if (trace_id === undefined || parentId === undefined) return null;
  const flags = Number.parseInt(digit ?? "", 16);
  return { trace_id, parentId, sampled: (flags & SAMPLED) !== 0, random: (flags & RANDOM) !== 0 };
}

/**
 * Returns a traceparent of version 00 with the flags `sampled` and `random`. All other flags are zero,
 * because they have no meaning yet.
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
 * Parses the tracestate that belongs to a valid traceparent. Returns the value to forward, or null if it is
 * empty or malformed. A malformed tracestate does not affect the trace. A tracestate of more than 512
 * characters is shortened. A key that occurs twice stays as received.
 */
export function parseTracestate(value: string): string | null {
  const members = value.split(",");
  if (members.length > STATE_MEMBERS_MAX || !members.every((member) => MEMBER.test(member))) return null;
  const state = value.trim();
  if (state === "" || !members.some((member) => member.trim() !== "")) return null;
  return state.length > STATE_LENGTH_MAX ? shorten(state) : state;
}

/**
 * Drops whole members from the end until the list has at most 512 characters. Drops members of more than 128
 * characters first.
 */
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
 * Creates a generator of ids. `fill` fills a buffer with random bytes, like `crypto.getRandomValues`. The generator
 * requests 8 KiB at a time, because a call of `fill` for each id would be slow.
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
    newTraceId: () => notZero(take(TRACE_ID_BYTES), ZERO_TRACE_ID),
    newSpanId: () => notZero(take(SPAN_ID_BYTES), ZERO_SPAN_ID),
  };
}

/** Returns the id, or a replacement for the all-zero id, which is invalid. */
function notZero(id: string, zero: string): string {
  return id === zero ? `${zero.slice(1)}1` : id;
}
