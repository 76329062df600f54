import type { JSX } from "preact";
import type { Place } from "./address.ts";
import { AuditView, PersonAuditView } from "./audit/audit-view.tsx";
import { AUDIT_LABEL, ORGANIZATION_LOG, PERSON_LOG } from "./audit/logs.ts";
import { InvitesView } from "./invites/invites-view.tsx";
import { MemberKeysView, PersonKeysView } from "./keys/keys-views.tsx";
import { MEMBERS_LABEL } from "./members/members.ts";
import { MembersView } from "./members/members-view.tsx";
import { MEMBERS } from "./members/place.ts";
import { InviteView } from "./organizations/invite-view.tsx";
import { OrganizationsView } from "./organizations/organizations-view.tsx";
import { OverviewView } from "./organizations/overview-view.tsx";
import { REFERENCE } from "./reference/place.ts";
import { ReferenceView } from "./reference/reference-view.tsx";
import { SERVICE_ACCOUNTS } from "./service-accounts/place.ts";
import { ServiceAccountsView } from "./service-accounts/service-accounts-view.tsx";
import type { Texts } from "./texts/texts.ts";
import { USAGE, USAGE_LABEL } from "./usage/place.ts";
import { UsageView } from "./usage/usage-view.tsx";

/** A view of the page. */
export interface View {
  /** The segment of the fragment that names the view: `#/org/{organization_id}/{path}` or `#/{path}`. */
  readonly path: string;
  readonly scope: "organization" | "person";
  /** Returns the name of the view for its heading and for the navigation. */
  title(texts: Texts): string;
  /** The label that the view requires. The navigation omits the view if the member's role lacks the label. */
  readonly label?: string;
  /** Whether the navigation lists the view. */
  readonly listed: boolean;
  readonly Component: (props: { place: Place }) => JSX.Element;
}

/** All views, in the order of the navigation. The first view of each scope is its start page. */
export const VIEWS: readonly View[] = [
  {
    path: "overview",
    scope: "organization",
    title: (t) => t.overview.title,
    listed: true,
    Component: OverviewView,
  },
  {
    path: MEMBERS.path,
    scope: "organization",
    title: (t) => t.members.title,
    listed: true,
    Component: MembersView,
  },
  {
    path: "invites",
    scope: "organization",
    title: (t) => t.invites.title,
    label: MEMBERS_LABEL,
    listed: true,
    Component: InvitesView,
  },
  {
    path: SERVICE_ACCOUNTS.path,
    scope: "organization",
    title: (t) => t.serviceAccounts.title,
    listed: true,
    Component: ServiceAccountsView,
  },
  {
    path: "keys",
    scope: "organization",
    title: (t) => t.keys.titleOfMember,
    listed: true,
    Component: MemberKeysView,
  },
  {
    path: USAGE.path,
    scope: "organization",
    title: (t) => t.usage.title,
    label: USAGE_LABEL,
    listed: true,
    Component: UsageView,
  },
  {
    path: ORGANIZATION_LOG.view.path,
    scope: "organization",
    title: (t) => t.audit.title,
    label: AUDIT_LABEL,
    listed: true,
    Component: AuditView,
  },
  {
    path: REFERENCE.path,
    scope: "organization",
    title: (t) => t.reference.title,
    listed: true,
    Component: ReferenceView,
  },
  {
    path: "organizations",
    scope: "person",
    title: (t) => t.organizations.title,
    listed: true,
    Component: OrganizationsView,
  },
  {
    path: "my-keys",
    scope: "person",
    title: (t) => t.keys.titleOfPerson,
    listed: true,
    Component: PersonKeysView,
  },
  {
    path: PERSON_LOG.view.path,
    scope: "person",
    title: (t) => t.audit.titleOfPerson,
    listed: true,
    Component: PersonAuditView,
  },
  { path: "invite", scope: "person", title: (t) => t.invite.title, listed: false, Component: InviteView },
];

/** Returns the view of a path. An empty path names the scope's start page. Null for an unknown path. */
export function viewAt(path: string, scope: View["scope"]): View | null {
  const own = VIEWS.filter((view) => view.scope === scope);
  return (path === "" ? own[0] : own.find((view) => view.path === path)) ?? null;
}
