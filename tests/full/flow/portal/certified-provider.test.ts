/**
 * Tests of the portal with the OpenID provider `oidc-provider`, which the OpenID Foundation has certified.
 */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { freePort } from "../../../support/http/free-port.ts";
import { browserPath, PAGE_TIMEOUT_MS, sharedBrowser } from "../../../support/pages/swagger-page.ts";
import type { RunningProcess } from "../../../support/processes/start-process.ts";
import { freshDatabase } from "../../../support/stores/services.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { startPlatform, startScreen } from "../platform/bed.ts";

setDefaultTimeout(PAGE_TIMEOUT_MS);

describe.skipIf(browserPath === undefined)("the portal with a certified OpenID provider", () => {
  let folder: string;
  let browser: Browser;
  let platform: RunningProcess;
  let provider: Bun.Subprocess<"ignore", "pipe", "ignore">;
  let gatewayUrl: string;
  const contexts: BrowserContext[] = [];

  beforeAll(async () => {
    folder = temporaryFolder("certified");
    const [providerPort, gatewayPort] = [freePort(), freePort()];
    gatewayUrl = `http://127.0.0.1:${gatewayPort}`;
    const issuer = `http://127.0.0.1:${providerPort}`;
    const script = join(import.meta.dir, "../../../support/pages/oidc-provider-process.ts");
    provider = Bun.spawn([process.execPath, script, String(providerPort), gatewayUrl], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
    });
    await waitFor(async () => (await fetch(`${issuer}/jwks`).catch(() => null))?.ok === true, {
      timeoutMs: PAGE_TIMEOUT_MS,
    });
    const started = startPlatform({
      DATA_DIR: join(folder, "data"),
      DATABASE_URL: await freshDatabase(),
      DEMO: "false",
      GATEWAY_PORT: String(gatewayPort),
      AUTH_ISSUER: issuer,
      AUTH_JWKS_URI: `${issuer}/jwks`,
      AUTH_ALLOWED_AUDIENCES: "https://api.example.com",
      PORTAL_CLIENT_ID: "customer-portal",
      PORTAL_AUDIENCE: "https://api.example.com",
      PORTAL_SCOPES: "openid offline_access",
    });
    [browser, platform] = await Promise.all([sharedBrowser(), started]);
    await startScreen(platform);
    // On a busy machine the start screen can appear before the gateway serves all services.
    await waitFor(async () => (await fetch(`${gatewayUrl}/user`)).status === 401, {
      timeoutMs: PAGE_TIMEOUT_MS,
    });
  }, PAGE_TIMEOUT_MS);
  afterEach(() => Promise.all(contexts.splice(0).map((context) => context.close())));
  afterAll(async () => {
    provider.kill();
    await platform.stop();
  });

  async function signedIn(): Promise<Page> {
    const context = await browser.newContext({ locale: "en-GB" });
    contexts.push(context);
    context.setDefaultTimeout(PAGE_TIMEOUT_MS / 2);
    const page = await context.newPage();
    await page.goto(`${gatewayUrl}/portal`);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.locator("input[name=login]").fill("ada");
    await page.locator("input[name=password]").fill("anything");
    await page.locator("button[type=submit]").click();
    await page.getByRole("button", { name: "Continue" }).click();
    return page;
  }

  // PT-10, PT-14, PT-15
  test("signs a customer in, renews tokens with refresh tokens that each work once, and survives a reload", async () => {
    const page = await signedIn();
    await page.getByLabel("Name").fill("Renewed");
    const grants: string[] = [];
    const visits: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/token")) grants.push(request.postData() ?? "");
      if (request.isNavigationRequest()) visits.push(request.url());
    });
    await page.getByRole("button", { name: "Create an organization" }).click();
    await page.getByRole("definition").getByText("Renewed").waitFor();
    for (const view of ["#/my-keys", "#/my-audit", "#/organizations"]) {
      await page.evaluate(`location.hash = ${JSON.stringify(view)}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
    }
    await page.getByRole("table").getByText("Renewed").waitFor();
    const used = grants.map((body) => new URLSearchParams(body).get("refresh_token"));
    expect(used.length).toBeGreaterThan(1);
    expect(used).not.toContain(null);
    expect(new Set(used).size).toBe(used.length);
    expect(visits).toEqual([]);
    expect(await page.getByRole("alert").count()).toBe(0);
    await page.reload();
    await page.getByRole("table").getByText("Renewed").waitFor();
    expect(new URL(page.url()).search).toBe("");
  });
});
