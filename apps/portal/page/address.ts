import { segmentsOf } from "@ostiary/lib/page/segments-of";
import type { ViewPath } from "./view-paths.ts";

/** The part of a URL fragment that follows the path of the view. */
export interface Place {
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

/** The parsed fragment of a URL, such as `#/org/01…/members/01…?status=active` or `#/organizations`. */
export interface Address extends Place {
  readonly organization_id: string | null;
  /** The path of the view. Empty for the start page. */
  readonly path: string;
}

/** The form of an organization's id. */
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

const START: Address = { organization_id: null, path: "", segments: [], query: new URLSearchParams() };

/** Parses a fragment. A malformed fragment, which a user may have typed, leads to the start page. */
export function addressAt(fragment: string): Address {
  const [path = "", ...query] = fragment.split("?");
  const segments = segmentsOf(path);
  if (segments === null) return START;
  const known = segments.filter((segment) => segment !== "");
  const [first, organization_id = "", ...inside] = known;
  const place = (rest: readonly string[]) => ({
    path: rest[0] ?? "",
    segments: rest.slice(1),
    query: new URLSearchParams(query.join("?")),
  });
  if (first !== "org") return { organization_id: null, ...place(known) };
  return ULID.test(organization_id) ? { organization_id, ...place(inside) } : START;
}

/** Returns the fragment of a view. A view with the scope `organization` needs `organization_id`. */
export function addressOf(
  view: ViewPath,
  organization_id: string | null,
  place: { segments?: readonly string[]; query?: URLSearchParams } = {},
): string {
  const inside = [view.path, ...(place.segments ?? [])].filter((segment) => segment !== "");
  const segments = view.scope === "organization" ? ["org", organization_id ?? "", ...inside] : inside;
  const query = place.query?.toString() ?? "";
  return `#/${segments.map(encodeURIComponent).join("/")}${query === "" ? "" : `?${query}`}`;
}

/** Replaces the fragment of the URL without a new history entry. */
export function replacePlace(fragment: string): void {
  history.replaceState(null, "", `${location.pathname}${fragment}`);
  dispatchEvent(new HashChangeEvent("hashchange"));
}
