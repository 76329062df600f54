import { signInReturnPath } from "@ostiary/lib/contracts/sign-in";
import { listItems, signInOrigins } from "@ostiary/lib/runtime/config";
import {
  type Assets,
  appPage,
  compressedRepresentationOf,
  OSTIARY_ICON,
  once,
} from "@ostiary/lib/runtime/http";
import type { PortalConfig } from "../config.ts";
import type { PortalSettings } from "../page/settings.ts";
import { type Brand, loadBrand } from "./brand.ts";
import { brandStyle } from "./brand-style.ts";
import { bundlePortal, type PortalBundle } from "./bundle.ts";
import { providersOf } from "./providers.ts";
import { loadWitnesses } from "./witnesses.ts";

/** The paths of the page: the portal itself, the redirect URI for the identity provider, and that of invitations. */
const PORTAL_PATHS = ["/portal", signInReturnPath("/portal"), "/portal/invite"] as const;

/** Builds the HTTP app that serves the page and its assets (PT-3, PT-4). */
export function portalPage(config: PortalConfig) {
  const brand = loadBrand(config.PORTAL_BRAND_FILE);
  const { name, logo, links } = brand;
  const settings: PortalSettings = {
    providers: providersOf(config),
    languages: listItems(config.PORTAL_LANGUAGES),
    brand: { name, has_logo: logo !== null, links },
    witnesses: loadWitnesses(config),
  };
  const bundled = once(bundlePortal);
  return appPage({
    name: "portal",
    paths: [...PORTAL_PATHS],
    title: name,
    noscript: "This page needs JavaScript.",
    waiting: "The page is loading. If it does not appear, reload the page.",
    icon: logo === null ? OSTIARY_ICON : "/portal/assets/logo",
    origins: signInOrigins(
      settings.providers.map(({ issuer }) => issuer),
      config.PORTAL_PROVIDER_ORIGINS,
    ),
    settings,
    moreAssets: async () => new Map([...(await brandAssets(brand)), await verifierOf(await bundled())]),
    policies: ["portal-verifier"],
    bundle: bundled,
  });
}

/** Returns the asset with the script of the worker that verifies audit logs (PT-64). */
async function verifierOf({ verifier }: PortalBundle) {
  const script = await compressedRepresentationOf(verifier, "text/javascript; charset=utf-8");
  return ["verifier.js", script] as const;
}

async function brandAssets({ colors, logo }: Brand): Promise<Assets> {
  const style = await compressedRepresentationOf(brandStyle(colors), "text/css; charset=utf-8");
  const files: [string, typeof style][] = [["brand.css", style]];
  if (logo !== null) files.push(["logo", await compressedRepresentationOf(logo.bytes, logo.type)]);
  return new Map(files);
}
