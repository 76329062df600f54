/**
 * Where somebody is in the console, as the fragment of its address says it: `#/services/widgets/revisions/3`. So back,
 * forward and bookmarks work, and nothing of it is sent to the server. The admin token is never part of it.
 */
export type View =
  | { name: "routes" }
  | { name: "services" }
  | { name: "service"; service: string }
  | { name: "revisions"; service: string; revision: number | null }
  | { name: "lookup" }
  | { name: "apply" }
  | { name: "gateways" };

export const HOME: View = { name: "routes" };

/** The view that a fragment names; null when it names none. */
export function viewAt(fragment: string): View | null {
  const segments = fragment
    .replace(/^#?\/?/, "")
    .split("/")
    .map(decoded);
  const [first = "", service = "", third, revision, ...more] = segments;
  if (segments.includes(null) || more.length > 0) return null;
  if (service === "") return segments.length === 1 ? plainView(first ?? "") : null;
  if (first !== "services" || service === null) return null;
  if (third === undefined) return { name: "service", service };
  if (third !== "revisions") return null;
  if (revision === undefined) return { name: "revisions", service, revision: null };
  return /^[1-9]\d{0,8}$/.test(revision ?? "")
    ? { name: "revisions", service, revision: Number(revision) }
    : null;
}

function plainView(name: string): View | null {
  switch (name) {
    case "":
      return HOME;
    case "routes":
    case "services":
    case "lookup":
    case "apply":
    case "gateways":
      return { name };
    default:
      return null;
  }
}

/** A fragment may be typed by hand: a broken escape names nothing. */
function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

/** The fragment of a view, for a link. */
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

/** What the page's title and heading say of a view. */
export function titleOf(view: View): string {
  switch (view.name) {
    case "routes":
      return "Routes";
    case "services":
      return "Services";
    case "service":
      return view.service;
    case "revisions":
      return `Revisions of ${view.service}`;
    case "lookup":
      return "Look up a request";
    case "apply":
      return "Apply a document";
    case "gateways":
      return "Gateways";
  }
}
