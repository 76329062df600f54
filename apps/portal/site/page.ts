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
import type { PortalSettings, ProviderSettings, WitnessSettings } from "../page/settings.ts";
import type { Brand } from "./brand.ts";
import { brandStyle } from "./brand-style.ts";
import type { PortalBundle } from "./bundle.ts";

/** The paths of the page: the portal itself, the redirect URI for the identity provider, and that of invitations. */
const PORTAL_PATHS = ["/portal", signInReturnPath("/portal"), "/portal/invite"] as const;

export interface Shown {
  brand: Brand;
  providers: ProviderSettings[];
  /** The witnesses that must have cosigned each log, or null if none is required. */
  witnesses: WitnessSettings | null;
}

/** Builds the HTTP app that serves the page and its assets (PT-3, PT-4). */
export function portalPage(config: PortalConfig, shown: Shown, bundle: () => Promise<PortalBundle>) {
  const { brand } = shown;
  const bundled = once(bundle);
  return appPage({
    name: "portal",
    paths: [...PORTAL_PATHS],
    title: brand.name,
    noscript: "This page needs JavaScript.",
    waiting: "The page is loading. If it does not appear, reload the page.",
    icon: brand.logo === null ? OSTIARY_ICON : "/portal/assets/logo",
    origins: signInOrigins(
      shown.providers.map(({ issuer }) => issuer),
      config.PORTAL_PROVIDER_ORIGINS,
    ),
    settings: settingsOf(config, shown),
    moreAssets: async () => new Map([...(await brandAssets(brand)), await verifierOf(await bundled())]),
    policies: ["portal-verifier"],
    bundle: bundled,
  });
}

function settingsOf(config: PortalConfig, { brand, providers, witnesses }: Shown): PortalSettings {
  const { name, logo, links } = brand;
  return {
    providers,
    languages: listItems(config.PORTAL_LANGUAGES),
    brand: { name, has_logo: logo !== null, links },
    witnesses,
  };
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
