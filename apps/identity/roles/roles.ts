/** The label list that grants everything. */
export const EVERY_LABEL = "*";

/** What the roles file says, as read at boot. */
export interface RolesFile {
  /** Slug → labels. */
  readonly roles: ReadonlyMap<string, readonly string[]>;
  readonly creator_role: string;
  readonly default_role: string;
  readonly service_account_default_role?: string;
}

/** The deployment's roles, on or off (Identity specification, Roles file). */
export interface Roles {
  /** Null while roles are off: then no member has a role and every member may do everything. */
  readonly file: RolesFile | null;
  /** For whoever creates an organization. */
  readonly creator: string | null;
  /** For a member or invite that is written without a role. */
  readonly forMembers: string | null;
  /** For a service account that is written without a role. */
  readonly forServiceAccounts: string | null;
  /** The slugs that may be assigned, sorted. */
  readonly slugs: readonly string[];
  /** What a stored role grants now. A slug that the file no longer holds grants nothing. */
  labelsOf(role: string | null): string[];
  /** A stored role as answers show it. */
  shown(role: string | null): string | null;
}

/** Roles as `file` defines them; null turns them off. */
export function createRoles(file: RolesFile | null): Roles {
  if (file === null) return rolesOff;
  const labels = file.roles;
  return {
    file,
    creator: file.creator_role,
    forMembers: file.default_role,
    forServiceAccounts: file.service_account_default_role ?? file.default_role,
    slugs: [...labels.keys()].sort(),
    labelsOf: (role) => [...((role === null ? undefined : labels.get(role)) ?? [])],
    shown: (role) => role,
  };
}

const rolesOff: Roles = Object.freeze({
  file: null,
  creator: null,
  forMembers: null,
  forServiceAccounts: null,
  slugs: [],
  labelsOf: () => [EVERY_LABEL],
  shown: () => null,
});
