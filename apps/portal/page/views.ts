import type { JSX } from "preact";
import type { Place } from "./address.ts";
import { InviteView } from "./organizations/invite-view.tsx";
import { OrganizationsView } from "./organizations/organizations-view.tsx";
import { OverviewView } from "./organizations/overview-view.tsx";
import type { Texts } from "./texts/texts.ts";

/** A view of the page. */
export interface View {
  /** The first segment of its address: `#/org/{organization_id}/{path}` or `#/{path}`. */
  readonly path: string;
  readonly scope: "organization" | "person";
  /** Its heading, which is its name in the navigation too. */
  title(texts: Texts): string;
  /** The label without which the navigation leaves the view out. */
  readonly label?: string;
  /** Whether the navigation lists the view. */
  readonly listed: boolean;
  readonly Component: (props: { place: Place }) => JSX.Element;
}

/** All views, in the order of the navigation. The first one of each scope is its start. */
export const VIEWS: readonly View[] = [
  {
    path: "overview",
    scope: "organization",
    title: (t) => t.overview.title,
    listed: true,
    Component: OverviewView,
  },
  {
    path: "organizations",
    scope: "person",
    title: (t) => t.organizations.title,
    listed: true,
    Component: OrganizationsView,
  },
  { path: "invite", scope: "person", title: (t) => t.invite.title, listed: false, Component: InviteView },
];

/** Returns the view of a path, the start of the scope for an empty path, or null. */
export function viewAt(path: string, scope: View["scope"]): View | null {
  const own = VIEWS.filter((view) => view.scope === scope);
  return (path === "" ? own[0] : own.find((view) => view.path === path)) ?? null;
}
