/**
 * Generates the portal's screenshots, `.github/pictures/portal-light.png` and `portal-dark.png`, which show a
 * verified audit log. It starts a platform for them. Run it with `bun tests/pictures/portal.ts`.
 */

import { join } from "node:path";
import { startNewPlatform, startScreen } from "../full/flow/platform/bed.ts";
import { chooseName, untilAsked } from "../support/pages/sign-in-pages.ts";
import { launchBrowser } from "../support/pages/swagger-page.ts";
import { ROOT } from "../support/root.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const PICTURES = join(ROOT, ".github/pictures");
const SIZE = { width: 1280, height: 860 };
const NAME = "Example Ltd";
/** The number of audited changes to make, so that the log has events. */
const CHANGES = 12;

async function draw(): Promise<void> {
  const platform = await startNewPlatform({ DATA_DIR: join(temporaryFolder("portal"), "data") });
  await using browser = await launchBrowser();
  const places = await startScreen(platform);
  const placeOf = (name: string) => /http\S+/.exec(places[name] ?? "")?.[0] ?? "";
  const portalUrl = placeOf("customer portal");
  const token = await (await fetch(new URL("/token?subject=alice", placeOf("identity provider")))).text();
  const send = async (method: string, path: string, headers: Record<string, string>, body: object) => {
    const response = await fetch(new URL(path, portalUrl), { method, headers, body: JSON.stringify(body) });
    return JSON.parse(await response.text());
  };
  const person = { Authorization: `Bearer ${token}` };
  await send("PATCH", "/user", person, { display_name: "Alice Liddell" });
  const { id } = await send("POST", "/user/organizations", person, { name: NAME });
  const session = await send("POST", `/user/organizations/${id}/session`, person, {});
  for (let each = 0; each < CHANGES; each += 1) {
    await send("PATCH", "/org", { "X-API-Key": session.token }, { name: NAME });
  }
  for (const colorScheme of ["light", "dark"] as const) {
    const look = { viewport: SIZE, colorScheme, locale: "en-GB", reducedMotion: "reduce" } as const;
    const page = await browser.newPage(look);
    await page.goto(portalUrl);
    await page.getByRole("button", { name: "Sign in" }).click();
    await untilAsked(page);
    await chooseName(page, "alice");
    await page.getByRole("navigation", { name: "Portal" }).waitFor();
    await page.goto(`${portalUrl}#/org/${id}/audit/verify`);
    await page.getByRole("button", { name: "Verify now" }).click();
    await page.getByRole("button", { name: /^Save root/ }).waitFor();
    await page.screenshot({ path: join(PICTURES, `portal-${colorScheme}.png`) });
    await page.context().close();
  }
  await platform.stop();
}

if (import.meta.main) await draw();
