import { parseRevision } from "@ostiary/lib/contracts/registry-api";
import { fragmentTo, placeAt } from "@ostiary/lib/page/address";

/** A view of the console, which the fragment of the URL names. The fragment never contains a token. */
export type View =
  | { name: PlainView }
  | { name: "service"; service: string }
  | { name: "revisions"; service: string; revision: number | null };

const TITLES = {
  routes: "Routes",
  services: "Services",
  deleted: "Deleted services",
  changes: "Changes",
  lookup: "Look up a request",
  apply: "Apply a document",
  gateways: "Gateways",
  operators: "Operators",
};
export type PlainView = keyof typeof TITLES;

/** Returns the view that a fragment names, or null when the fragment names no view. */
export function viewAt(fragment: string): View | null {
  const segments = placeAt(fragment)?.segments ?? [];
  const [first, service = "", third, revision, ...more] = segments;
  if (first === undefined || more.length > 0) return null;
  if (service === "") return segments.length === 1 ? plainView(first) : null;
  if (first !== "services") return null;
  if (third === undefined) return { name: "service", service };
  if (third !== "revisions") return null;
  if (revision === undefined) return { name: "revisions", service, revision: null };
  const number = parseRevision(revision);
  return number === null ? null : { name: "revisions", service, revision: number };
}

function plainView(name: string): View | null {
  if (name === "") return { name: "routes" };
  return isPlain(name) ? { name } : null;
}

function isPlain(name: string): name is PlainView {
  return Object.hasOwn(TITLES, name);
}

export function fragmentOf(view: View): string {
  if (view.name === "service") return fragmentTo({ segments: ["services", view.service] });
  if (view.name !== "revisions") return fragmentTo({ segments: [view.name] });
  const revision = view.revision === null ? [] : [String(view.revision)];
  return fragmentTo({ segments: ["services", view.service, "revisions", ...revision] });
}

export function titleOf(view: View): string {
  if (view.name === "service") return view.service;
  return view.name === "revisions" ? `Revisions of ${view.service}` : TITLES[view.name];
}
