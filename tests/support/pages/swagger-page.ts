import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";

/**
 * The browsers in order of preference. The headless shell has no windows and needs a quarter less CPU time.
 */
const BROWSERS = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];
/** The time limit of a page. The Swagger page has 1.5 MB of script, which is slow without a graphics card. */
export const PAGE_TIMEOUT_MS = 120_000;
/** The path of the browser on this machine. It is undefined when there is none. */
export const browserPath = BROWSERS.find((path) => existsSync(path));

let shared: Promise<Browser> | undefined;

/** Returns the browser that all test files of this process share. It ends with the process. */
export function sharedBrowser(): Promise<Browser> {
  shared ??= launchBrowser();
  return shared;
}

/** Starts a browser without its background requests. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: browserPath,
    args: [
      ...["--no-sandbox", "--disable-gpu"],
      ...["--disable-background-networking", "--disable-component-update"],
    ],
  });
}

/**
 * A Swagger page. `strangers` are the URLs of its requests to other origins, and `complaints` are its errors.
 */
export interface OpenPage {
  page: Page;
  strangers: string[];
  complaints: string[];
}

/** Opens the Swagger page of a service. Resolves once the page shows `operation`. */
export async function openSwagger(browser: Browser, url: string, operation: string): Promise<OpenPage> {
  const page = await browser.newPage();
  const strangers: string[] = [];
  const complaints: string[] = [];
  await page.route("**/*", (route) => {
    if (new URL(route.request().url()).origin === url) return route.continue();
    strangers.push(route.request().url());
    return route.abort();
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  await page.goto(`${url}/swagger`, { timeout: PAGE_TIMEOUT_MS });
  await page.locator(`#operations-${operation}`).waitFor({ timeout: PAGE_TIMEOUT_MS });
  return { page, strangers, complaints };
}
