import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";

const AXE = await Bun.file(fileURLToPath(import.meta.resolve("axe-core/axe.min.js"))).text();

/**
 * Returns the violations that axe finds on a page, each with its rule and element. By default, axe checks all
 * rules.
 */
export async function violationsOn(page: Page, ...rules: string[]): Promise<string[]> {
  // Loads the script of axe, which has half a megabyte, only once for each document.
  if (await page.evaluate("!('axe' in window)")) await page.evaluate(AXE);
  const options = { resultTypes: ["violations"], ...(rules.length > 0 && { runOnly: rules }) };
  const found: string = await page.evaluate(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) => JSON.stringify(violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => id + " at " + target + ": " + failureSummary))))`,
  );
  return JSON.parse(found);
}

/** A page of a browser, with its unexpected requests and its errors. */
export interface WatchedPage {
  readonly page: Page;
  /** The URLs of requests to origins that the page may not call. */
  readonly forbiddenUrls: string[];
  /** The messages of uncaught errors and of errors on the page's console. */
  readonly complaints: string[];
  go(fragment: string): Promise<void>;
  /** Returns the violations that axe finds on the page, each with its rule and element. */
  violations(): Promise<string[]>;
}

/**
 * Records the errors of a page and its requests to other origins than these. Turns the interception of requests on
 * before the first one: on an open page it begins some time after `route` has resolved.
 */
export async function watchPage(page: Page, origins: readonly string[]): Promise<WatchedPage> {
  await page.route("**/no-such-request", (route) => route.abort());
  const forbiddenUrls: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (!origins.includes(origin) && protocol !== "data:") forbiddenUrls.push(request.url());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // The browser itself reports each response with an error status, which is not an error of the page.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
      complaints.push(message.text());
    }
  });
  return {
    page,
    forbiddenUrls,
    complaints,
    async go(fragment) {
      await page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);
    },
    violations: () => violationsOn(page),
  };
}
