import { beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { useRegistry } from "../../../app/registry/bed.ts";
import { ADMIN_TOKEN, type Answer, service } from "../../../app/registry/harness.ts";
import { operationsIn } from "../../../support/http/openapi.ts";
import {
  browserPath,
  openSwagger,
  PAGE_TIMEOUT_MS,
  sharedBrowser,
} from "../../../support/pages/swagger-page.ts";

const registry = useRegistry();
beforeAll(async () => {
  await registry.put("widgets", service("/widgets/{widget_id}"));
});

async function document(): Promise<Answer["body"]> {
  const response = await fetch(`${registry.url}/swagger/json`);
  expect(response.status).toBe(200);
  return response.json();
}

describe("the OpenAPI description", () => {
  test("declares that operations require the admin token", async () => {
    const { security, components } = await document();
    expect(security).toEqual([{ bearer: [] }]);
    expect(components.securitySchemes.bearer).toMatchObject({ type: "http", scheme: "bearer" });
  });

  test("has JSON for bodies, and also YAML for apply", async () => {
    const { paths } = await document();
    expect(Object.keys(paths["/services/{name}"].put.requestBody.content)).toEqual(["application/json"]);
    expect(Object.keys(paths["/apply"].post.requestBody.content)).toEqual([
      "application/json",
      "application/yaml",
      "application/x-yaml",
      "text/yaml",
    ]);
    expect(paths["/services/{name}/revisions/{rev}/restore"].post).not.toHaveProperty("requestBody");
  });

  test("has the headers of requests and responses, and examples of bodies", async () => {
    const { paths, components } = await document();
    const put = paths["/services/{name}"].put;
    expect(put.parameters.map(({ name }: { name: string }) => name)).toEqual([
      ...["If-Match", "X-Change-Reason", "X-Change-Link"],
      ...["name", "wait_ms"],
    ]);
    expect(Object.keys(put.responses[200].headers)).toEqual(["X-Request-ID", "ETag"]);
    expect(Object.keys(put.responses[401].headers)).toEqual(["X-Request-ID", "WWW-Authenticate"]);
    for (const name of ["ConfigDocument", "ServiceConfig"]) {
      expect(components.schemas[name].examples).not.toBeEmpty();
    }
    expect(JSON.stringify(components)).not.toContain('"rule"');
    expect(
      (await registry.call("POST", "/apply", components.schemas.ConfigDocument.examples[0])).status,
    ).toBe(200);
  });

  // RG-98
  test("has a page whose assets this process serves, and no other files", async () => {
    expect(
      (await fetch(`${registry.url}/swagger/assets/swagger-ui-bundle.js`)).headers.get("content-type"),
    ).toStartWith("text/javascript");
    for (const file of [
      "package.json",
      "..%2Fpackage.json",
      "%2e%2e%2f%2e%2e%2fpackage.json",
      "index.html",
    ]) {
      const response = await fetch(`${registry.url}/swagger/assets/${file}`);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { code: "NOT_FOUND" } });
    }
  });
});

describe.skipIf(browserPath === undefined)("the registry's Swagger page in a browser", () => {
  const open = async () => openSwagger(await sharedBrowser(), registry.url, "Services-listServices");

  async function authorize(page: Page): Promise<void> {
    await page.locator(".btn.authorize").first().click();
    await page.locator(".auth-container input").fill(ADMIN_TOKEN);
    await page.locator(".auth-btn-wrapper .authorize").click();
    await page.locator(".auth-btn-wrapper .btn-done").click();
  }

  /** Opens an operation, fills in its parameters and executes it. Returns the status that the page shows. */
  async function tryOut(
    page: Page,
    operation: string,
    parameters: Record<string, string> = {},
    body?: string,
  ): Promise<string> {
    const block = page.locator(`#operations-${operation}`);
    if ((await block.locator(".opblock-body").count()) === 0) {
      await block.locator(".opblock-summary-control").click();
      await block.locator(".try-out__btn").click();
    }
    for (const [name, value] of Object.entries(parameters)) {
      await block.locator(`tr[data-param-name="${name}"] input`).fill(value);
    }
    if (body !== undefined) await block.locator(".body-param__text").fill(body);
    await block.locator(".execute").click();
    const status = block.locator(".live-responses-table .response-col_status").last();
    await status.waitFor();
    return (await status.textContent())?.trim() ?? "";
  }

  const inBrowser = (name: string, work: () => Promise<void>) => test(name, work, PAGE_TIMEOUT_MS);

  inBrowser("lists every operation, without requests to other origins and without errors", async () => {
    const { page, strangers, complaints } = await open();
    expect(await page.locator(".opblock").count()).toBe(operationsIn(await document()).length);
    expect(strangers).toEqual([]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  inBrowser("puts a service with Try it out, once the token is entered", async () => {
    const { page } = await open();
    await authorize(page);
    const config = JSON.stringify(service("/from-the-page"));
    expect(await tryOut(page, "Services-putService", { name: "paged" }, config)).toStartWith("200");
    expect((await registry.call("GET", "/services/paged")).body).toMatchObject(service("/from-the-page"));
    await page.close();
  });
});
