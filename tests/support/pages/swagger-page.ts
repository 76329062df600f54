import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

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
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
  });
}
