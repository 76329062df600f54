/** `traceparent` and `tracestate` (GW-84): W3C Trace Context level 1, with the additions of level 2. */

export interface TraceParent {
  /** 32 lowercase hexadecimal digits, not all zero. */
  trace_id: string;
  parentId: string;
  /** Whether the caller may have recorded its span. */
  sampled: boolean;
  /** Whether the trace id is random, so samplers can use its last bytes. Level 2 added this flag. */
  random: boolean;
}

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
 * A member of a tracestate, or an empty one. The key follows level 2; level 1 allows `@` only once. The value is
 * printable ASCII without comma and equals sign, and does not end with a space.
 */
const MEMBER = /^[ \t]*(?:[a-z0-9][a-z0-9_*/@-]{0,255}=[ -+\--<>-~]{0,255}[!-+\--<>-~][ \t]*)?$/;

/**
 * Returns null for an invalid traceparent; the caller starts a new trace. Versions above 00 may have more data after a
 * dash. Several headers arrive as one text with a comma, which is invalid in every version.
 */
export function parseTraceparent(value: string): TraceParent | null {
  if (value.length > LENGTH && value.startsWith("00")) return null;
  const [, trace_id, parentId, digit] = TRACEPARENT.exec(value) ?? [];
  if (trace_id === undefined || parentId === undefined) return null;
  const flags = Number.parseInt(digit ?? "", 16);
  return { trace_id, parentId, sampled: (flags & SAMPLED) !== 0, random: (flags & RANDOM) !== 0 };
}

/** All other flags are zero, because they have no meaning yet. */
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
 * Returns the value to forward, or null if it is empty or malformed; the trace itself is not affected. More than 512
 * characters are shortened. A key that occurs twice stays as received.
 */
export function parseTracestate(value: string): string | null {
  const members = value.split(",");
  if (members.length > STATE_MEMBERS_MAX || !members.every((member) => MEMBER.test(member))) return null;
  const state = value.trim();
  if (state === "" || !members.some((member) => member.trim() !== "")) return null;
  return state.length > STATE_LENGTH_MAX ? shorten(state) : state;
}

/** Drops whole members from the end until the list fits, first those of more than 128 characters. */
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

/** `fill` is like `crypto.getRandomValues`, and gets 8 KiB at a time: a call for each id would be slow. */
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

function notZero(id: string, zero: string): string {
  return id === zero ? `${zero.slice(1)}1` : id;
}
