import { RolesListing } from "@ostiary/lib/contracts/identity-api";
import { SelectField, useRequest } from "@ostiary/lib/page";
import { pathTo } from "../gateway.ts";
import { useSession } from "../portal-session.ts";
import { useTexts } from "../texts/texts.ts";

interface RoleFieldProps {
  value: string;
  roles: RolesListing | null;
  problem: string | null;
  onInput: (role: string) => void;
}

/** Lets the user choose a role, and shows what the role allows. */
export function RoleField({ roles, ...field }: RoleFieldProps) {
  return (
    <>
      <SelectField
        {...field}
        label={useTexts().members.columns.role}
        options={roleOptions(roles, field.value)}
      />
      <Granted labels={labelsOf(roles, field.value)} />
    </>
  );
}

/** Describes in words what labels allow. Shows an unknown label unchanged. */
export function Granted({ labels }: { labels: readonly string[] }) {
  const t = useTexts().roles;
  const known: Readonly<Record<string, string>> = t.labels;
  if (labels.includes("*")) return <p>{t.everything}</p>;
  if (labels.length === 0) return <p>{t.nothing}</p>;
  return (
    <ul>
      {labels.map((label) => (
        <li key={label}>{Object.hasOwn(known, label) ? known[label] : <code>{label}</code>}</li>
      ))}
    </ul>
  );
}

export function useRoles() {
  const { gateway } = useSession();
  return useRequest(() => gateway.send(RolesListing, pathTo("org", "roles")), "roles");
}

/** Returns the options of a role field: all roles, and `present` even if that role no longer exists. */
export function roleOptions(
  listing: RolesListing | null,
  present: string | null,
): { value: string; text: string }[] {
  const slugs = listing?.roles.map(({ slug }) => slug) ?? [];
  const all = present === null || slugs.includes(present) ? slugs : [present, ...slugs];
  return all.map((slug) => ({ value: slug, text: slug }));
}

/** Returns the labels that a role grants. An unknown role grants no labels. */
export function labelsOf(listing: RolesListing | null, role: string | null): readonly string[] {
  return listing?.roles.find(({ slug }) => slug === role)?.labels ?? [];
}

// The labels that parts of the page require. The page only hides these parts; the gateway decides.

export const RENAME_LABEL = "org:write";
export const DELETION_LABEL = "org:delete";
export const MEMBERS_LABEL = "org:members:write";
export const SERVICE_ACCOUNTS_LABEL = "org:service-accounts:write";
export const USAGE_LABEL = "org:usage:read";
export const AUDIT_LABEL = "org:audit:read";
