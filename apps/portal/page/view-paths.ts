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
export const REFERENCE = inOrganization("reference");
export const ORGANIZATIONS = ofPerson("organizations");
export const PERSON_KEYS = ofPerson("my-keys");
export const PERSON_AUDIT = ofPerson("my-audit");
export const INVITE = ofPerson("invite");
