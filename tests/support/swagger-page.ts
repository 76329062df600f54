import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";

/** The headless shell is the same browser without its windows, which costs a quarter less. */
const BROWSERS = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];
/** The page has 1.5 MB of script, which a browser without a graphics card draws slowly. */
export const PAGE_TIMEOUT_MS = 120_000;
/** The path of a browser on this machine; undefined without one. */
export const browserPath = BROWSERS.find((path) => existsSync(path));

/** Starts a browser that makes no requests by itself. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: browserPath,
    args: [
      ...["--no-sandbox", "--disable-gpu"],
      ...["--disable-background-networking", "--disable-component-update"],
    ],
  });
}

/** A Swagger page, with its requests to other hosts and its errors. */
export interface OpenPage {
  page: Page;
  strangers: string[];
  complaints: string[];
}

/** Opens the Swagger page of a service, and resolves once it shows `operation`. */
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
