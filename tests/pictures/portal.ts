/**
 * Generates the portal's screenshots, `.github/pictures/portal-light.png` and `portal-dark.png`, which show a
 * verified audit log. It starts a platform for them. Run it with `bun tests/pictures/portal.ts`.
 */

import { join } from "node:path";
import { startPortalQuickStart } from "../support/pages/portal-quick-start.ts";
import { launchBrowser } from "../support/pages/swagger-page.ts";
import { ROOT } from "../support/root.ts";

const PICTURES = join(ROOT, ".github/pictures");
const SIZE = { width: 1280, height: 860 };
/** The number of audited changes to make, so that the log has events. */
const CHANGES = 12;

async function draw(): Promise<void> {
  await using quickStart = await startPortalQuickStart();
  await using browser = await launchBrowser();
  const { id, send } = await quickStart.organization("Example Ltd");
  for (let each = 0; each < CHANGES; each += 1) await send("PATCH", "/org", { name: "Example Ltd" });
  for (const scheme of ["light", "dark"] as const) {
    const page = await quickStart.open(browser, { viewport: SIZE, colorScheme: scheme });
    await page.goto(`${quickStart.portalUrl}#/org/${id}/audit/verify`);
    await page.getByRole("button", { name: "Verify now" }).click();
    await page.getByRole("button", { name: /^Save root/ }).waitFor();
    await page.screenshot({ path: join(PICTURES, `portal-${scheme}.png`) });
    await page.context().close();
  }
}

if (import.meta.main) await draw();
