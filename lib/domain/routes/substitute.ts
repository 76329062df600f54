/** The path called on a service (Gateway specification, Upstream substitution; contract 4, Matching). */
import { escapedByte } from "./request-path.ts";
import type { RouteMatch } from "./table.ts";

/** The ids of the owner that the route addresses; a scope has those of its fields. */
export interface SubjectIds {
  readonly user_id?: string | null;
  readonly organization_id?: string | null;
  readonly member_id?: string | null;
}

export type UpstreamPath =
  | { readonly path: string }
  /** `path_param`: a param of the request is not one segment. `subject`: an id of the subject is not. */
  | { readonly error: "path_param" | "subject" };

/**
 * Fills the upstream template of a matched route. Params go in as received, still encoded. Every param is
 * checked, also those that the template does not use and when there is no template.
 *
 * @param path the request's path, the result when the route has no upstream
 */
export function upstreamPath({ route, params }: RouteMatch, path: string, subject: SubjectIds): UpstreamPath {
  for (const value of params) {
    if (!isOneSegment(value)) return { error: "path_param" };
  }
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
 * Whether `value`, once an upstream decodes it, is still one segment of a path: not empty, not `.` or `..`, and
 * without `/`, `\`, `?` and `#`, written plainly or as escapes, and without a broken escape.
 */
export function isOneSegment(value: string): boolean {
  let length = 0;
  let dots = 0;
  for (let index = 0; index < value.length; index++, length++) {
    let code = value.charCodeAt(index);
    if (code === PERCENT) {
      code = escapedByte(value, index);
      if (code < 0) return false;
      index += 2;
    }
    if (code === 0x2f || code === 0x5c || code === 0x3f || code === 0x23) return false;
    if (code === 0x2e) dots++;
  }
  return length > 0 && !(length <= 2 && dots === length);
}

const PERCENT = 0x25;

function isVisibleAscii(value: string): boolean {
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index);
    if (code < 0x21 || code > 0x7e) return false;
  }
  return true;
}
