import { fragmentTo, type PageAddress, placeAt } from "@ostiary/lib/page/address";

/** The place of a view in the fragment of the URL: `#/org/{organization_id}/{path}` or `#/{path}`. */
export interface ViewPath {
  readonly path: string;
  readonly scope: "organization" | "person";
}

const inOrganization = (path: string): ViewPath => ({ path, scope: "organization" });
const ofPerson = (path: string): ViewPath => ({ path, scope: "person" });

export const OVERVIEW = inOrganization("overview");
export const MEMBERS = inOrganization("members");
export const INVITES = inOrganization("invites");
export const SERVICE_ACCOUNTS = inOrganization("service-accounts");
export const MEMBER_KEYS = inOrganization("keys");
export const USAGE = inOrganization("usage");
export const AUDIT = inOrganization("audit");
export const SETTINGS = inOrganization("settings");
export const REFERENCE = inOrganization("reference");
export const ORGANIZATIONS = ofPerson("organizations");
export const PROFILE = ofPerson("my-profile");
export const PERSON_KEYS = ofPerson("my-keys");
export const PERSON_AUDIT = ofPerson("my-audit");
export const INVITE = ofPerson("invite");

/**
 * The parsed fragment of a URL, such as `#/org/01…/members/01…?status=active` or `#/organizations`. The
 * segments follow the path of the view.
 */
export interface Address extends PageAddress {
  readonly organization_id: string | null;
  readonly path: string;
}

const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** Parses a fragment. A malformed fragment, which a user may have typed, leads to the start page. */
export function addressAt(fragment: string): Address {
  const { segments: all, query } = placeAt(fragment) ?? START;
  const known = all.filter((segment) => segment !== "");
  const [first, organization_id = "", ...inside] = known;
  if (first !== "org") return { ...START, path: first ?? "", segments: known.slice(1), query };
  if (!ULID.test(organization_id)) return START;
  return { organization_id, path: inside[0] ?? "", segments: inside.slice(1), query };
}

const START: Address = { organization_id: null, path: "", segments: [], query: new URLSearchParams() };

/** Returns the fragment of a view. A view with the scope `organization` needs `organization_id`. */
export function addressOf(
  view: ViewPath,
  organization_id: string | null,
  { segments = [], query }: Partial<PageAddress> = {},
): string {
  const inside = [view.path, ...segments].filter((segment) => segment !== "");
  const scope = view.scope === "organization" ? ["org", organization_id ?? ""] : [];
  return fragmentTo({ segments: [...scope, ...inside], query });
}
