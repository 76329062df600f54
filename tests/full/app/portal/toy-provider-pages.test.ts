/** Tests the pages of the toy identity provider, which people see on the way to the portal and the console. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { startIdentityProvider } from "@ostiary/demo";
import { duringTests } from "../../../support/during-tests.ts";
import { browserPath, PAGE_TIMEOUT_MS, sharedBrowser } from "../../../support/pages/swagger-page.ts";
import { violationsOn } from "../../../support/pages/watched-page.ts";

setDefaultTimeout(PAGE_TIMEOUT_MS);

const ASKED = new URLSearchParams({
  response_type: "code",
  client_id: "portal",
  redirect_uri: "http://127.0.0.1:5001/portal/signed-in",
  code_challenge: "c".repeat(43),
  code_challenge_method: "S256",
});

describe.skipIf(browserPath === undefined)("the toy provider", () => {
  const provider = duringTests(() => startIdentityProvider({ host: "127.0.0.1", port: 0 }));

  test.each([
    ["/authorize", "Who are you?"],
    ["/authorize/end", "You are signed out"],
  ])(
    "shows %s in the style of the portal, accessible on small and large screens in both schemes",
    async (path, title) => {
      const browser = await sharedBrowser();
      const grounds = new Set<unknown>();
      for (const [width, colorScheme] of [
        [1_440, "light"],
        [1_440, "dark"],
        [360, "light"],
        [360, "dark"],
      ] as const) {
        const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
        const page = await context.newPage();
        await page.goto(`${provider.issuer}${path}?${ASKED}`);
        await page.getByRole("heading", { level: 1, name: title }).waitFor();
        const wider = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        expect({ width, colorScheme, found: await violationsOn(page), wider }).toEqual({
          width,
          colorScheme,
          found: [],
          wider: 0,
        });
        grounds.add(await page.evaluate("getComputedStyle(document.querySelector('.card')).backgroundColor"));
        await context.close();
      }
      expect([...grounds]).toEqual(["rgb(255, 255, 255)", "rgb(27, 30, 29)"]);
    },
  );
});
