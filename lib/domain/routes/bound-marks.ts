/** Marks changes of timeouts and of maximum body sizes; see `change-marks.ts`. */
import type { ConfiguredBounds } from "./call-bounds.ts";
import type { Change } from "./change-schema.ts";
import { breaks, opens, type ReviewMark } from "./review-mark.ts";

/**
 * Returns the marks of a bound of the service itself. A service that is added or removed has none: its routes
 * have changes of their own.
 */
export function markServiceBounds({ before, after }: Change, changes: readonly Change[]): ReviewMark[] {
  const isReplaced = changes.some(
    (each) =>
      each.scope === null && each.action !== "changed" && (each.before ?? each.after)?.url !== undefined,
  );
  return isReplaced ? [] : markBounds(before ?? {}, after ?? {});
}

/** Compares the bounds of a route or a service before and after a change. An omitted bound is unknown. */
export function markBounds(before: ConfiguredBounds, after: ConfiguredBounds): ReviewMark[] {
  return [
    ...markTimeout(before.timeout_ms, after.timeout_ms),
    ...markBody(sizeOf(before.max_body_bytes), sizeOf(after.max_body_bytes)),
  ];
}

function markTimeout(before: number | undefined, after: number | undefined): ReviewMark[] {
  if (before === after) return [];
  if (before === undefined || after === undefined) {
    const text = (ms: number | undefined) => (ms === undefined ? "the default" : `${ms} ms`);
    return [breaks(`the service may get less time to respond: ${text(before)} is now ${text(after)}`)];
  }
  return after < before
    ? [breaks(`the service gets less time to respond: ${before} ms is now ${after} ms`)]
    : [];
}

/** Returns a size as a number that can be compared: 0 means no limit. */
function sizeOf(max_body_bytes: number | undefined): number | undefined {
  return max_body_bytes === 0 ? Number.POSITIVE_INFINITY : max_body_bytes;
}

function markBody(before: number | undefined, after: number | undefined): ReviewMark[] {
  if (before === after) return [];
  const change = `${sizeText(before)} is now ${sizeText(after)}`;
  const [from, to] = [before ?? Number.NaN, after ?? Number.NaN];
  if (to > from || to === Number.POSITIVE_INFINITY) return [opens(`larger bodies are admitted: ${change}`)];
  if (to < from || from === Number.POSITIVE_INFINITY) return [breaks(`larger bodies are refused: ${change}`)];
  const reason = `the largest body may change: ${change}`;
  return [opens(reason), breaks(reason)];
}

function sizeText(bytes: number | undefined): string {
  if (bytes === undefined) return "the default";
  return bytes === Number.POSITIVE_INFINITY ? "no limit" : `${bytes} bytes`;
}
