import type { TokenClaims } from "./token-form.ts";

/** Stands for the claim `tid` in an issuer that is a template. */
export const TENANT_PLACE = "{tenantid}";

/** The characters of a tenant's id. An id has at most {@link TENANT_LENGTH_MAX} of them. */
export const TENANT_CHARACTERS = "[A-Za-z0-9._-]";
export const TENANT_LENGTH_MAX = 64;
const TENANT = new RegExp(`^${TENANT_CHARACTERS}{1,${TENANT_LENGTH_MAX}}$`);

/** Tells whether `issuer`, with the token's `tid` for each {@link TENANT_PLACE}, is the token's `iss`. */
export function isIssuerOf(issuer: string, { iss, tid }: TokenClaims): boolean {
  if (!issuer.includes(TENANT_PLACE)) return issuer === iss;
  return typeof tid === "string" && TENANT.test(tid) && issuer.replaceAll(TENANT_PLACE, tid) === iss;
}
