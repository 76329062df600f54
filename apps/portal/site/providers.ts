import type { ConfigProblem } from "@ostiary/lib/runtime/config";
import { type PortalConfig, portalVariables } from "../config.ts";
import type { ProviderSettings } from "../page/settings.ts";
import { checkBrandFile, loadBrand } from "./brand.ts";

type Variables = Pick<PortalConfig, "AUTH_ISSUER" | "PORTAL_CLIENT_ID" | "PORTAL_BRAND_FILE">;

/**
 * Returns the identity providers that customers can sign in at: the issuers of the brand file, or the one of the
 * variables (PT-80).
 */
export function providersOf(
  config: Variables & Pick<PortalConfig, "PORTAL_SCOPES" | "PORTAL_AUDIENCE">,
): ProviderSettings[] {
  const { AUTH_ISSUER: issuer, PORTAL_CLIENT_ID: client_id, PORTAL_SCOPES: scopes } = config;
  const audience = config.PORTAL_AUDIENCE ?? null;
  if (client_id === undefined) {
    const { issuers } = loadBrand(config.PORTAL_BRAND_FILE);
    return issuers.map((each) => ({ scopes, ...each, audience }));
  }
  return issuer === undefined ? [] : [{ issuer, client_id, scopes, audience, name: null }];
}

/**
 * Tells whether the variables or the brand file name an identity provider. A file with problems counts as naming one.
 */
export function namesProvider(config: Partial<Variables>): boolean {
  const { PORTAL_CLIENT_ID, PORTAL_BRAND_FILE } = config;
  if (PORTAL_CLIENT_ID !== undefined || checkBrandFile(config).length > 0) return true;
  return loadBrand(PORTAL_BRAND_FILE).issuers.length > 0;
}

/**
 * Requires either both variables of an identity provider, or `issuers` in the brand file without a client id (PT-2).
 */
export function checkProviders(config: Partial<PortalConfig>): ConfigProblem[] {
  if (checkBrandFile(config).length > 0) return [];
  const isInFile = loadBrand(config.PORTAL_BRAND_FILE).issuers.length > 0;
  if (isInFile && config.PORTAL_CLIENT_ID !== undefined) {
    const message = "and issuers in PORTAL_BRAND_FILE are both set: keep one of them.";
    return [{ variable: "PORTAL_CLIENT_ID", message }];
  }
  if (isInFile) return [];
  return (["AUTH_ISSUER", "PORTAL_CLIENT_ID"] as const)
    .filter((variable) => config[variable] === undefined)
    .map((variable) => ({
      variable,
      message: `is required: it ${portalVariables.properties[variable].rule}.`,
    }));
}
