/**
 * Tests of the portal's API reference in a browser: which calls a member sees, and how the page sends them.
 */
import { describe, expect, test } from "bun:test";
import type { Page, Route } from "playwright-core";
import { browserPath } from "../../../support/pages/swagger-page.ts";
import { refuse, requestsOf, textOf, usePortal } from "./bed.ts";

const HOSTILE = `<img src=x onerror="window.ran=1">`;
const DESCRIPTION = "**/edge/openapi.json";
const THING = "/demo/things/{thing_id}";

describe.skipIf(browserPath === undefined)("the API reference of the portal", () => {
  const bed = usePortal();

  const open = async (page: Page, call: string) => {
    await page.getByLabel("Search by method, path or words").fill(call);
    await page.getByRole("link", { name: call, exact: true }).click();
    await page.getByRole("form", { name: "Try the call" }).waitFor();
  };
  const dialog = (page: Page) => page.getByRole("dialog", { name: "Send this call?" });
  const responseOf = (page: Page) => page.getByRole("region", { name: "Response", exact: true });
  const described = (page: Page, description: unknown) =>
    page.route(DESCRIPTION, (route: Route) => route.fulfill({ json: description }));
  const thing = (more: Record<string, unknown>) => ({
    "x-scope": "public",
    operationId: "getThing",
    ...more,
  });

  // PT-41, PT-42, PT-43, PT-44, PT-46
  test("sends a GET at once, shows status, limits and body, and shows a curl command that works", async () => {
    const id = await bed.organization("ada", "Callers");
    const { page, go, complaints, forbiddenUrls } = await bed.open("ada");
    await go(`#/org/${id}/reference`);
    await page.getByRole("table", { name: "Demo" }).waitFor();
    await open(page, "GET /demo/burst");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await responseOf(page).getByText("The response has the status 200.").waitFor();
    await responseOf(page).getByText("x-ratelimit-limit").waitFor();
    expect(await responseOf(page).getByLabel("Response body").textContent()).toContain(id);
    const command = await page
      .getByRole("figure", { name: "The same with curl" })
      .locator("code")
      .textContent();
    const session = await bed.call("ada", "POST", `/user/organizations/${id}/session`, {});
    const API_KEY = textOf(await session.json(), "token");
    const ran = Bun.spawnSync(["sh", "-c", command ?? ""], { env: { ...process.env, API_KEY } });
    expect(ran.stdout.toString()).toContain(id);
    expect(await page.content()).not.toContain(API_KEY.slice(0, 12));
    expect({ complaints, forbiddenUrls }).toEqual({ complaints: [], forbiddenUrls: [] });
  });

  // PT-31, PT-43
  test("asks before it sends a change, shows exactly what is sent, and sends it once", async () => {
    const id = await bed.organization("ada", "Changes");
    const { page, go } = await bed.open("ada");
    await go(`#/org/${id}/reference`);
    await open(page, `PUT ${THING}`);
    const sent = requestsOf(page, "PUT", "/demo/things");
    await page.getByRole("button", { name: "Send …" }).click();
    await page.getByText("A value is required.").first().waitFor();
    await page.getByLabel("thing_id (path, required)").fill("a/b");
    await page.getByLabel(/^Body/).fill('{"color":"black"}');
    await page.getByRole("button", { name: "Send …" }).click();
    await dialog(page).getByText(`PUT ${bed.gatewayUrl}/demo/things/a%2Fb`).waitFor();
    await dialog(page).getByText('{"color":"black"}').waitFor();
    await dialog(page).getByRole("button", { name: "Cancel" }).click();
    expect(sent).toHaveLength(0);
    await page.getByRole("button", { name: "Send …" }).click();
    await dialog(page).getByRole("button", { name: "Send", exact: true }).dblclick();
    await responseOf(page).waitFor();
    expect(sent.map((request) => [request.method(), request.postData()])).toEqual([
      ["PUT", '{"color":"black"}'],
    ]);
  });

  // PT-41
  test("shows only the calls that the member's role grants, and how many need another role", async () => {
    const id = await bed.organization("ada", "Viewers");
    await bed.joined("ada", id, "grace", "viewer");
    const { page, go } = await bed.open("grace");
    await go(`#/org/${id}/reference`);
    await page.getByLabel("Search by method, path or words").fill("/demo/things");
    await page.getByRole("link", { name: `GET ${THING}`, exact: true }).waitFor();
    expect(await page.getByRole("link", { name: `PUT ${THING}`, exact: true }).count()).toBe(0);
    await page.getByText(/^Calls that need another role: \d+\.$/).waitFor();
  });

  // PT-30, PT-44
  test("shows a 429 with its headers, and does not follow a redirect", async () => {
    const id = await bed.organization("ada", "Limits");
    const { page, go } = await bed.open("ada");
    const headers = { "Retry-After": "3000", "X-RateLimit-Limit": "7", Location: "https://evil.example/" };
    await page.route("**/demo/hello", (route) => route.fulfill({ status: 429, headers, body: HOSTILE }));
    await go(`#/org/${id}/reference`);
    await open(page, "GET /demo/hello");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await responseOf(page).getByText("The response has the status 429.").waitFor();
    await responseOf(page).getByText("3000", { exact: true }).waitFor();
    await responseOf(page).getByText(HOSTILE).waitFor();
    await page.route("**/demo/hello", (route) => route.fulfill({ status: 302, headers }));
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await responseOf(page).getByText("The response redirects to another URL.").waitFor();
    expect(await page.evaluate("window.ran")).toBeUndefined();
  });

  // PT-41
  test("says that the description is not open to customers, and stays signed in", async () => {
    const id = await bed.organization("ada", "Closed");
    const { page, go } = await bed.open("ada");
    await page.route(DESCRIPTION, refuse);
    await go(`#/org/${id}/reference`);
    await page.getByText("The description of this API is not open to customers.").waitFor();
    await go("#/organizations");
    await page.getByRole("link", { name: "Closed" }).waitFor();
  });

  // PT-32, PT-42, PT-45
  test("shows a hostile description of 5 000 calls as text, and calls no other origin", async () => {
    const id = await bed.organization("ada", "Hostile");
    const { page, go, complaints, forbiddenUrls } = await bed.open("ada", { locale: "de-DE" });
    const many = Array.from({ length: 5_000 }, (_, each) => [
      `/many/${each}`,
      { get: thing({ operationId: `m${each}` }) },
    ]);
    await described(page, {
      servers: [{ url: "https://evil.example" }],
      paths: {
        "//evil.example/steal": { get: thing({ operationId: "steal" }) },
        "/demo/hello": {
          get: thing({
            operationId: HOSTILE,
            summary: HOSTILE,
            description: HOSTILE,
            tags: [HOSTILE],
            servers: [{ url: "https://evil.example" }],
            parameters: [{ name: HOSTILE, in: "query", description: HOSTILE, example: HOSTILE }],
          }),
        },
        ...Object.fromEntries(many),
      },
    });
    await go(`#/org/${id}/reference`);
    await page.getByText("Aufrufe, die diese Seite nicht zeigen kann: 1.").waitFor();
    expect(await page.getByRole("row").count()).toBe(102);
    await page.getByRole("link", { name: "GET /demo/hello" }).click();
    await page.getByLabel(`${HOSTILE} (Query)`).fill(HOSTILE);
    await page.getByRole("button", { name: "Senden", exact: true }).click();
    await page.getByText("Die Antwort hat den Status 200.").first().waitFor();
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect({ complaints, forbiddenUrls }).toEqual({ complaints: [], forbiddenUrls: [] });
  });

  // PT-46
  test("is only for people who are signed in: the description is 401 without a credential", async () => {
    expect((await fetch(`${bed.gatewayUrl}/edge/openapi.json`)).status).toBe(401);
    expect((await bed.call("ada", "GET", "/edge/openapi.json")).status).toBe(200);
  });
});
