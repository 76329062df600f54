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
const TRACEPARENT =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]([0-9a-f])(?:-|$)/;

const STATE_MEMBERS_MAX = 32;
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
 * Returns the value to forward, or null if it is empty or malformed; the trace itself is not affected. Level 2 requires
 * that at least 512 characters are forwarded, and sets no maximum. A key that occurs twice stays as received.
 */
export function parseTracestate(value: string): string | null {
  const members = value.split(",");
  if (members.length > STATE_MEMBERS_MAX || !members.every((member) => MEMBER.test(member))) return null;
  return members.some((member) => member.trim() !== "") ? value.trim() : null;
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
  return { newTraceId: () => take(TRACE_ID_BYTES), newSpanId: () => take(SPAN_ID_BYTES) };
}
