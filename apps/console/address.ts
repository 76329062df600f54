import { segmentsOf } from "@ostiary/lib/page/segments-of";

/**
 * A view of the console. The fragment of the URL names the view (`#/services/widgets/revisions/3`), so back,
 * forward and bookmarks work. Browsers do not send the fragment to the server. The fragment never contains a
 * token.
 */
export type View =
  | { name: PlainView }
  | { name: "service"; service: string }
  | { name: "revisions"; service: string; revision: number | null };

/** The titles of the views without parameters. */
const TITLES = {
  routes: "Routes",
  services: "Services",
  lookup: "Look up a request",
  apply: "Apply a document",
  gateways: "Gateways",
  operator: "What you may do",
};
type PlainView = keyof typeof TITLES;

export const HOME: View = { name: "routes" };

/** Returns the view that a fragment names, or null when the fragment names no view. */
export function viewAt(fragment: string): View | null {
  const segments = segmentsOf(fragment) ?? [];
  const [first, service = "", third, revision, ...more] = segments;
  if (first === undefined || more.length > 0) return null;
  if (service === "") return segments.length === 1 ? plainView(first) : null;
  if (first !== "services") return null;
  if (third === undefined) return { name: "service", service };
  if (third !== "revisions") return null;
  if (revision === undefined) return { name: "revisions", service, revision: null };
  return /^[1-9]\d{0,8}$/.test(revision) ? { name: "revisions", service, revision: Number(revision) } : null;
}

function plainView(name: string): View | null {
  if (name === "") return HOME;
  return isPlain(name) ? { name } : null;
}

function isPlain(name: string): name is PlainView {
  return Object.hasOwn(TITLES, name);
}

export function fragmentOf(view: View): string {
  switch (view.name) {
    case "service":
      return `#/services/${encodeURIComponent(view.service)}`;
    case "revisions": {
      const revision = view.revision === null ? "" : `/${view.revision}`;
      return `#/services/${encodeURIComponent(view.service)}/revisions${revision}`;
    }
    default:
      return `#/${view.name}`;
  }
}

/** Returns the title of a view. The page shows the title as the heading. */
export function titleOf(view: View): string {
  if (view.name === "service") return view.service;
  return view.name === "revisions" ? `Revisions of ${view.service}` : TITLES[view.name];
}
