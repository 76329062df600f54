import type { Browser, BrowserContextOptions } from "playwright-core";
import { PAGE_TIMEOUT_MS } from "./swagger-page.ts";
import { type WatchedPage, watchPage } from "./watched-page.ts";

export interface ConsolePage extends WatchedPage {
  enter(token: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens the console, which shows its sign-in form. */
export async function openConsole(
  browser: Browser,
  url: string,
  options: BrowserContextOptions & { fragment?: string } = {},
): Promise<ConsolePage> {
  const { fragment = "", ...given } = options;
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    reducedMotion: "reduce",
    ...given,
  });
  context.setDefaultTimeout(PAGE_TIMEOUT_MS);
  const page = await context.newPage();
  const watched = await watchPage(page, [url]);
  await page.goto(`${url}/console${fragment}`);
  return {
    ...watched,
    async enter(token) {
      await page.getByLabel("Token", { exact: true }).fill(token);
      await page.keyboard.press("Enter");
    },
    close: () => context.close(),
  };
}
