import { fileURLToPath } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { PAGE_TIMEOUT_MS } from "./swagger-page.ts";

const AXE = await Bun.file(fileURLToPath(import.meta.resolve("axe-core/axe.min.js"))).text();

/** Returns what axe finds wrong with a page, by all of its rules or by the given ones: rule and place. */
export async function findingsOn(page: Page, ...rules: string[]): Promise<string[]> {
  await page.evaluate(AXE);
  const options = rules.length === 0 ? {} : { runOnly: rules };
  const found: string = await page.evaluate(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) => JSON.stringify(violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => id + " at " + target + ": " + failureSummary))))`,
  );
  return JSON.parse(found);
}

/** The console in its own browser, with its requests to other hosts and its errors. */
export interface ConsolePage {
  readonly page: Page;
  readonly strangers: string[];
  readonly complaints: string[];
  /** Follows an address inside the page. */
  go(fragment: string): Promise<void>;
  enter(token: string): Promise<void>;
  /** Returns what axe finds wrong with the visible page: rule and place. */
  findings(): Promise<string[]>;
  close(): Promise<void>;
}

/** Opens the console at its sign-in. */
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
  const strangers: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== url && protocol !== "data:") strangers.push(request.url());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // The browser itself reports answers that are errors.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
      complaints.push(message.text());
    }
  });
  await page.goto(`${url}/console${fragment}`);
  return {
    page,
    strangers,
    complaints,
    async go(to) {
      await page.evaluate(`location.hash = ${JSON.stringify(to)}`);
    },
    async enter(token) {
      await page.getByLabel("Token", { exact: true }).fill(token);
      await page.keyboard.press("Enter");
    },
    findings: () => findingsOn(page),
    close: () => context.close(),
  };
}
