import type { PageAddress } from "@ostiary/lib/page";
import type { JSX } from "preact";
import { AuditView, PersonAuditView } from "./audit/audit-view.tsx";
import { InvitesView } from "./invites/invites-view.tsx";
import { MemberKeysView, PersonKeysView } from "./keys/own-keys.tsx";
import { MembersView } from "./members/members-view.tsx";
import { InviteView } from "./organizations/invite-view.tsx";
import { OrganizationsView } from "./organizations/organizations-view.tsx";
import { OverviewView } from "./organizations/overview-view.tsx";
import { SettingsView } from "./organizations/settings-view.tsx";
import * as at from "./portal-address.ts";
import { ProfileView } from "./profile/profile-view.tsx";
import { ReferenceView } from "./reference/reference-view.tsx";
import { AUDIT_LABEL, MEMBERS_LABEL, USAGE_LABEL } from "./roles/roles.tsx";
import { ServiceAccountsView } from "./service-accounts/service-accounts-view.tsx";
import type { Texts } from "./texts/texts.ts";
import { UsageView } from "./usage/usage-view.tsx";

export interface View extends at.ViewPath {
  title(texts: Texts): string;
  /** The label that the view requires. The navigation omits the view if the member's role lacks the label. */
  readonly label?: string;
  readonly unlisted?: true;
  readonly Component: (props: { place: PageAddress }) => JSX.Element;
}

/** All views, in the order of the navigation. The first view of each scope is its start page. */
export const VIEWS: readonly View[] = [
  { ...at.OVERVIEW, title: (t) => t.overview.title, Component: OverviewView },
  { ...at.MEMBERS, title: (t) => t.members.title, Component: MembersView },
  { ...at.INVITES, title: (t) => t.invites.title, label: MEMBERS_LABEL, Component: InvitesView },
  { ...at.SERVICE_ACCOUNTS, title: (t) => t.serviceAccounts.title, Component: ServiceAccountsView },
  { ...at.MEMBER_KEYS, title: (t) => t.keys.titleOfMember, Component: MemberKeysView },
  { ...at.USAGE, title: (t) => t.usage.title, label: USAGE_LABEL, Component: UsageView },
  { ...at.AUDIT, title: (t) => t.audit.title, label: AUDIT_LABEL, Component: AuditView },
  { ...at.REFERENCE, title: (t) => t.reference.title, Component: ReferenceView },
  { ...at.SETTINGS, title: (t) => t.settings.title, Component: SettingsView },
  { ...at.ORGANIZATIONS, title: (t) => t.organizations.title, Component: OrganizationsView },
  { ...at.PROFILE, title: (t) => t.profile.title, Component: ProfileView },
  { ...at.PERSON_KEYS, title: (t) => t.keys.titleOfPerson, Component: PersonKeysView },
  { ...at.PERSON_AUDIT, title: (t) => t.audit.titleOfPerson, Component: PersonAuditView },
  { ...at.INVITE, title: (t) => t.invite.title, unlisted: true, Component: InviteView },
];

/** Returns the view of a path. An empty path names the scope's start page. Null for an unknown path. */
export function viewAt(path: string, scope: View["scope"]): View | null {
  const own = VIEWS.filter((view) => view.scope === scope);
  return (path === "" ? own[0] : own.find((view) => view.path === path)) ?? null;
}
