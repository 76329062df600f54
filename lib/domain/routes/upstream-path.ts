/** Builds the path that the gateway calls on a service (GW-79, GW-80). */
import { isCut, isReadAsDots } from "./folded-segment.ts";
import { escapedByte } from "./request-path.ts";
import type { RouteMatch } from "./route-table.ts";

/**
 * The ids of the caller, for the placeholders in upstream templates. The scope of the route decides which ids
 * are set.
 */
export interface SubjectIds {
  readonly user_id?: string | null;
  readonly organization_id?: string | null;
  readonly member_id?: string | null;
}

type UpstreamPath =
  | { readonly path: string }
  /**
   * The kind of the value that cannot be inserted because it is not one path segment: `path_param` is a param
   * of the request, `subject` an id of the caller.
   */
  | { readonly error: "path_param" | "subject" };

/**
 * Fills the upstream template of a matched route. Params are inserted as received, still encoded. Every param
 * is checked, even without a template or when the template does not use it.
 *
 * @param path the request's path, which is the result if the route has no upstream
 */
export function upstreamPath(match: RouteMatch, path: string, subject: SubjectIds): UpstreamPath {
  if (!hasFittingParams(match)) return { error: "path_param" };
  const { route, params } = match;
  if (route.upstream === null) return { path };
  let filled = "";
  for (const part of route.upstream) {
    if (typeof part === "string") filled += part;
    else if ("param" in part) filled += params[part.param];
    else {
      const id = subject[part.subject];
      if (id === undefined || id === null || !isOneSegment(id) || !isVisibleAscii(id))
        return { error: "subject" };
      filled += id;
    }
  }
  return { path: filled };
}

/**
 * Returns whether every param is one path segment, and none but those in the last segment of the upstream path can
 * be cut. Some services drop everything after a `;`, so `/docs/internal;x/y` reaches `/docs/internal` there.
 */
function hasFittingParams(match: RouteMatch): boolean {
  let isAnyCut = false;
  for (const value of match.params) {
    if (!isOneSegment(value)) return false;
    isAnyCut ||= isCut(value);
  }
  return !isAnyCut || !isCutInside(match);
}

/** Returns whether a service may cut a param that another segment of the upstream path follows. */
function isCutInside({ route, params }: RouteMatch): boolean {
  if (route.upstream === null) {
    const isLast = (index: number) => index === params.length - 1 && route.path.endsWith("}");
    return params.some((value, index) => isCut(value) && !isLast(index));
  }
  let isInside = false;
  for (const part of route.upstream.toReversed()) {
    if (typeof part === "string") isInside ||= part.includes("/");
    else if (isInside && "param" in part && isCut(params[part.param] ?? "")) return true;
  }
  return false;
}

/**
 * Returns whether `value` is still one path segment after an upstream decodes it or cuts it at `;`. A segment
 * is not read as empty, `.` or `..`, and has no broken escape. A segment has no `/`, `\`, `?`, `#` or control
 * byte, plain or escaped.
 */
export function isOneSegment(value: string): boolean {
  for (let index = 0; index < value.length; index++) {
    let code = value.charCodeAt(index);
    if (code === PERCENT) {
      code = escapedByte(value, index);
      if (code < 0) return false;
      index += 2;
    }
    if (code === 0x2f || code === 0x5c || code === 0x3f || code === 0x23) return false;
    if (code < 0x20 || code === 0x7f) return false;
  }
  return !isReadAsDots(value);
}

const PERCENT = 0x25;

function isVisibleAscii(value: string): boolean {
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index);
    if (code < 0x21 || code > 0x7e) return false;
  }
  return true;
}
