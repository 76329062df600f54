import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { ADMIN_TOKEN, service, useRegistry } from "../../../app/registry/bed.ts";
import { waitFor } from "../../../support/index.ts";
import { browserPath, PAGE_TIMEOUT_MS, sharedBrowser } from "../../../support/pages/swagger-page.ts";

const HOSTILE = `<img src=x onerror="window.ran = true"><script>window.ran = true</script>
[click](javascript:window.ran=true) <a href="javascript:window.ran=true" id="trap">trap</a>`;
/** A body that Swagger UI writes into its own curl command without quotes. */
const COMMAND = "/$(touch /tmp/ran)";

describe.skipIf(browserPath === undefined)("the page of the edge description", () => {
  let browser: Browser;
  const registry = useRegistry({ env: { EDGE_DOCUMENT_REFRESH_MS: "20" } });
  let upstream: Bun.Server<undefined>;

  beforeAll(async () => {
    browser = await sharedBrowser();
    const get = { summary: HOSTILE, description: HOSTILE, responses: { 200: { description: HOSTILE } } };
    upstream = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () =>
        Response.json({
          openapi: "3.1.0",
          tags: [{ name: "Widgets", description: HOSTILE }],
          paths: {
            "/widgets": { get: { ...get, operationId: "listWidgets", tags: ["Widgets"] } },
            "/notes": {
              post: {
                operationId: "addNote",
                requestBody: { content: { "text/plain": { schema: { type: "string" }, example: COMMAND } } },
                responses: { 200: { description: "Fine." } },
              },
            },
          },
        }),
    });
    await registry.put("widgets", {
      ...service("/widgets"),
      public: { routes: [{ path: "/notes", methods: ["POST"] }] },
      url: upstream.url.origin,
      openapi: "/openapi.json",
    });
    await waitFor(async () =>
      JSON.stringify((await registry.call("GET", "/edge/openapi.json")).body).includes("onerror"),
    );
  }, PAGE_TIMEOUT_MS);
  afterAll(() => upstream.stop(true));

  async function shown(page: Page, token: string): Promise<void> {
    await page.getByLabel("An operator's token").fill(token);
    await page.getByRole("button", { name: "Show" }).click();
  }

  test(
    "asks for the admin token, does not store it, and shows operations with a curl command",
    async () => {
      const page = await browser.newPage();
      const otherUrls: string[] = [];
      page.on("request", (request) => {
        if (new URL(request.url()).origin !== registry.url) otherUrls.push(request.url());
      });
      await page.goto(`${registry.url}/edge`, { timeout: PAGE_TIMEOUT_MS });
      await shown(page, "wrong");
      await page.getByText("The registry does not accept this token.").waitFor();
      await shown(page, ADMIN_TOKEN);
      const operation = page.locator("#operations-Widgets-listWidgets");
      await operation.waitFor({ timeout: PAGE_TIMEOUT_MS });
      expect(await page.getByLabel("An operator's token").isVisible()).toBe(false);
      const kept = await page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])");
      expect(kept).not.toContain(ADMIN_TOKEN);

      await operation.locator(".opblock-summary-control").click();
      expect(await operation.getByRole("region", { name: "curl" }).locator("pre").textContent()).toBe(
        'curl "$API_URL"\'/widgets\' \\\n  -H "Authorization: Bearer $TOKEN"',
      );
      expect(otherUrls).toEqual([]);

      const trap = page.locator("#trap");
      if ((await trap.count()) > 0)
        await trap
          .first()
          .click({ timeout: 2_000 })
          .catch(() => {});
      expect(await page.evaluate("window.ran")).toBeUndefined();
      await page.close();
    },
    PAGE_TIMEOUT_MS,
  );

  // RG-157
  test(
    "shows no other curl command after a call",
    async () => {
      const page = await browser.newPage();
      await page.goto(`${registry.url}/edge`, { timeout: PAGE_TIMEOUT_MS });
      await shown(page, ADMIN_TOKEN);
      const operation = page.locator("#operations-widgets-addNote");
      await operation.locator(".opblock-summary-control").click({ timeout: PAGE_TIMEOUT_MS });
      await operation.getByRole("button", { name: "Try it out" }).click();
      await operation.getByRole("button", { name: "Execute" }).click();
      await operation.getByText("Request URL").waitFor();
      const commands = await operation.locator("pre").allTextContents();
      const made = commands.filter((text) => text.startsWith("curl "));
      expect(made).toHaveLength(1);
      expect(made[0]).toContain(`--data-raw '${COMMAND}'`);
      await page.close();
    },
    PAGE_TIMEOUT_MS,
  );
});
