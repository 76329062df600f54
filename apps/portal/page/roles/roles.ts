import { RolesListing } from "@ostiary/lib/contracts/identity-api";
import { useAsked } from "@ostiary/lib/page";
import { pathTo } from "../gateway.ts";
import { useSession } from "../page-session.ts";

/** Reads the roles of the deployment. */
export function useRoles() {
  const { gateway } = useSession();
  return useAsked(() => gateway.send(RolesListing, pathTo("org", "roles"), { as: "member" }), "roles");
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
