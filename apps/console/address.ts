/**
 * A view of the console, as the fragment of its address names it: `#/services/widgets/revisions/3`. Back,
 * forward and bookmarks work, and browsers do not send fragments to the server. The fragment never holds a
 * token.
 */
export type View =
  | { name: "routes" }
  | { name: "services" }
  | { name: "service"; service: string }
  | { name: "revisions"; service: string; revision: number | null }
  | { name: "lookup" }
  | { name: "apply" }
  | { name: "gateways" }
  | { name: "operator" };

export const HOME: View = { name: "routes" };

/** Returns the view that a fragment names, or null when the fragment names no view. */
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
    case "operator":
      return { name };
    default:
      return null;
  }
}

/** Decodes a segment. Returns null for a broken escape, because a user can type the fragment. */
function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
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

/** Returns the title of a view, which is also its heading. */
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
    case "operator":
      return "What you may do";
  }
}
