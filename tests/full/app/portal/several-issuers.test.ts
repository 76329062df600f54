/** Tests that a sign-in at one of several identity providers stays with that provider, in a browser. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { startIdentityProvider } from "@ostiary/demo";
import type { Browser, Page } from "playwright-core";
import {
  CANNOT_RETURN,
  chooseName,
  everyRequest,
  exchangesOf,
  stateOf,
  untilAsked,
} from "../../../support/pages/sign-in-pages.ts";
import { browserPath, PAGE_TIMEOUT_MS, sharedBrowser } from "../../../support/pages/swagger-page.ts";
import { type RunningProcess, startProcess } from "../../../support/processes/start-process.ts";
import { lastingFolder } from "../../../support/temporary-folder.ts";

type Provider = Awaited<ReturnType<typeof startIdentityProvider>>;

describe.skipIf(browserPath === undefined)("a customer of a portal with two identity providers", () => {
  let browser: Browser;
  let [first, second]: Provider[] = [];
  let portal: RunningProcess;

  beforeAll(async () => {
    browser = await sharedBrowser();
    [first, second] = await Promise.all([startProvider(), startProvider()]);
    const PORTAL_BRAND_FILE = join(lastingFolder("issuers"), "brand.yaml");
    const issuers = [
      { name: "Acme ID", issuer: first?.issuer, client_id: "portal" },
      { name: "Partners", issuer: second?.issuer, client_id: "partners" },
    ];
    await Bun.write(PORTAL_BRAND_FILE, `name: Acme\nissuers: ${JSON.stringify(issuers)}\n`);
    portal = await startProcess("apps/portal/main.ts", { PORTAL_BRAND_FILE, LOG_FILE: "-" });
  }, PAGE_TIMEOUT_MS);
  afterAll(async () => {
    await Promise.all([portal.stop(), first?.stop(), second?.stop()]);
  });

  const startProvider = () => startIdentityProvider({ host: "127.0.0.1", port: 0 });

  /** Opens the portal without a gateway. The person of each token is made here. */
  async function visit(): Promise<Page> {
    const context = await browser.newContext({ locale: "en-GB" });
    context.setDefaultTimeout(PAGE_TIMEOUT_MS / 2);
    const page = await context.newPage();
    const times = { created_at: "2026-01-01T00:00:00.000Z", updated_at: "2026-01-01T00:00:00.000Z" };
    await page.route(`${portal.url}/user`, (route) =>
      route.fulfill({
        json: { id: "01KA4YB0Q9X3M5N7P8R2S6T1VW", display_name: null, status: "active", ...times },
      }),
    );
    await page.goto(`${portal.url}/portal`);
    return page;
  }

  async function choose(page: Page, provider: string): Promise<void> {
    await page.getByRole("button", { name: `Sign in with ${provider}` }).click();
    await untilAsked(page);
  }

  // PT-80, PT-12, PT-14
  test("signs in at the chosen one, and there again after a reload; the other one gets no call", async () => {
    const page = await visit();
    const seen = everyRequest(page);
    await choose(page, "Partners");
    expect(new URL(page.url()).origin).toBe(second?.issuer ?? "");
    expect(new URL(page.url()).searchParams.get("client_id")).toBe("partners");
    await chooseName(page, "ada");
    await page.getByText("Signed in as ada").waitFor();
    await page.reload();
    await page.getByText("Signed in as ada").waitFor();
    expect(exchangesOf(seen)).toHaveLength(2);
    expect(seen.filter((request) => request.url().startsWith(first?.issuer ?? ""))).toEqual([]);
    await page.context().close();
  });

  // PT-12
  test("cannot be signed in by the response of another one to the same sign-in; its code is not sent", async () => {
    const page = await visit();
    const seen = everyRequest(page);
    await choose(page, "Acme ID");
    const response = { code: "a-code", state: stateOf(page), iss: second?.issuer ?? "" };
    await page.goto(`${portal.url}/portal/signed-in?${new URLSearchParams(response)}`);
    await page.getByText(CANNOT_RETURN).waitFor();
    expect(exchangesOf(seen)).toEqual([]);
    await page.context().close();
  });

  // PT-12
  test("cannot be signed in by an earlier sign-in after another one began", async () => {
    const page = await visit();
    await choose(page, "Acme ID");
    const response = { code: "a-code", state: stateOf(page), iss: first?.issuer ?? "" };
    await page.goto(`${portal.url}/portal`);
    await choose(page, "Partners");
    const seen = everyRequest(page);
    await page.goto(`${portal.url}/portal/signed-in?${new URLSearchParams(response)}`);
    await page.getByText(CANNOT_RETURN).waitFor();
    expect(exchangesOf(seen)).toEqual([]);
    await page.context().close();
  });
});
