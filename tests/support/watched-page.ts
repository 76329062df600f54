import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";

const AXE = await Bun.file(fileURLToPath(import.meta.resolve("axe-core/axe.min.js"))).text();

/** Returns what axe finds wrong with a page, by all of its rules or by the given ones: rule and place. */
export async function findingsOn(page: Page, ...rules: string[]): Promise<string[]> {
  // Half a megabyte of script stays with its document.
  if (await page.evaluate("!('axe' in window)")) await page.evaluate(AXE);
  const options = { resultTypes: ["violations"], ...(rules.length > 0 && { runOnly: rules }) };
  const found: string = await page.evaluate(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) => JSON.stringify(violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => id + " at " + target + ": " + failureSummary))))`,
  );
  return JSON.parse(found);
}

/** A page in a browser of its own, with its requests to strangers and its errors. */
export interface WatchedPage {
  readonly page: Page;
  /** Addresses of requests to other origins than the known ones. */
  readonly strangers: string[];
  readonly complaints: string[];
  /** Follows an address inside the page. */
  go(fragment: string): Promise<void>;
  /** Returns what axe finds wrong with the visible page: rule and place. */
  findings(): Promise<string[]>;
}

/** Watches a page that may call these origins. */
export function watchPage(page: Page, origins: readonly string[]): WatchedPage {
  const strangers: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (!origins.includes(origin) && protocol !== "data:") strangers.push(request.url());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // The browser itself reports answers that are errors.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
      complaints.push(message.text());
    }
  });
  return {
    page,
    strangers,
    complaints,
    async go(fragment) {
      await page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);
    },
    findings: () => findingsOn(page),
  };
}
