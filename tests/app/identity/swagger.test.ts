import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { freshDatabase, type RunningProcess, startProcess } from "../../support/index.ts";
import {
  browserPath,
  launchBrowser,
  lintFindings,
  openSwagger,
  PAGE_TIMEOUT_MS,
} from "../../support/swagger-page.ts";
import { type IdentityHarness, ROLES, startIdentity } from "./harness.ts";

interface Documented {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  parameters?: { name: string; description: string; example?: string }[];
  responses: Record<string, { description: string; headers?: object; content?: object }>;
}

let identity: IdentityHarness;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.close());

async function documentedOperations(): Promise<[string, Documented][]> {
  const { body } = await identity.call("GET", "/swagger/json");
  const paths: Record<string, Record<string, Documented>> = body.paths;
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]): [string, Documented] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  );
}

/** Status codes of each operation beside 422, 500 and 503, which all have, and 400 and 413, which bodies have. */
const statuses: Record<string, string[]> = {
  "GET /users": ["200"],
  "GET /users/{user_id}": ["200", "404"],
  "PATCH /users/{user_id}": ["200", "404"],
  "PATCH /users/{user_id}/status": ["200", "404"],
  "DELETE /users/{user_id}": ["204", "404", "409"],
  "GET /users/{user_id}/memberships": ["200", "404"],
  "POST /users/{user_id}/organizations": ["201", "404"],
  "POST /users/{user_id}/api-keys": ["201", "404"],
  "GET /users/{user_id}/api-keys": ["200", "404"],
  "DELETE /users/{user_id}/api-keys/{key_id}": ["204", "404"],
  "POST /users/{user_id}/api-keys/{key_id}/rotate": ["201", "404", "409"],
  "POST /users/{user_id}/invites/redeem": ["200", "201", "404", "409"],
  "POST /users/{user_id}/organizations/{organization_id}/session": ["201", "404"],
  "GET /organizations": ["200"],
  "GET /organizations/{organization_id}": ["200", "404"],
  "PATCH /organizations/{organization_id}": ["200", "404"],
  "DELETE /organizations/{organization_id}": ["204", "404"],
  "GET /organizations/{organization_id}/roles": ["200", "404"],
  "GET /organizations/{organization_id}/members": ["200", "404"],
  "POST /organizations/{organization_id}/members": ["201", "404", "409"],
  "GET /organizations/{organization_id}/members/{member_id}": ["200", "404"],
  "PATCH /organizations/{organization_id}/members/{member_id}": ["200", "404"],
  "DELETE /organizations/{organization_id}/members/{member_id}": ["204", "404"],
  "GET /members/{member_id}": ["200", "404"],
  "PATCH /members/{member_id}": ["200", "404"],
  "DELETE /members/{member_id}": ["204", "404"],
  "GET /members/{member_id}/user": ["200", "404"],
  "POST /organizations/{organization_id}/invites": ["201", "404"],
  "GET /organizations/{organization_id}/invites": ["200", "404"],
  "DELETE /organizations/{organization_id}/invites/{invite_id}": ["204", "404"],
  "POST /organizations/{organization_id}/service-accounts": ["201", "404"],
  "GET /organizations/{organization_id}/service-accounts": ["200", "404"],
  "GET /organizations/{organization_id}/service-accounts/{service_account_id}": ["200", "404"],
  "PATCH /organizations/{organization_id}/service-accounts/{service_account_id}": ["200", "404"],
  "DELETE /organizations/{organization_id}/service-accounts/{service_account_id}": ["204", "404"],
  "POST /organizations/{organization_id}/service-accounts/{service_account_id}/api-keys": ["201", "404"],
  "GET /organizations/{organization_id}/service-accounts/{service_account_id}/api-keys": ["200", "404"],
  "DELETE /organizations/{organization_id}/service-accounts/{service_account_id}/api-keys/{key_id}": [
    "204",
    "404",
  ],
  "POST /organizations/{organization_id}/service-accounts/{service_account_id}/api-keys/{key_id}/rotate": [
    "201",
    "404",
    "409",
  ],
  "POST /members/{member_id}/api-keys": ["201", "404"],
  "GET /members/{member_id}/api-keys": ["200", "404"],
  "DELETE /members/{member_id}/api-keys/{key_id}": ["204", "404"],
  "POST /members/{member_id}/api-keys/{key_id}/rotate": ["201", "404", "409"],
};

describe("the OpenAPI document", () => {
  test("passes a linter's recommended rules with no error and no warning", async () => {
    const { text } = await identity.call("GET", "/swagger/json");
    expect(await lintFindings(text)).toEqual([]);
    // the linter does look
    expect(await lintFindings(text.replace('"operationId":"listUsers",', ""))).not.toEqual([]);
    const off = await (await identity.restarted(null)).call("GET", "/swagger/json");
    expect(await lintFindings(off.text)).toEqual([]);
  });

  test("has every operation of the specification with each of its statuses", async () => {
    const operations = await documentedOperations();
    const own = operations.map(([name, { responses }]) => [
      name,
      Object.keys(responses).filter((status) => !["400", "413", "422", "500", "503"].includes(status)),
    ]);
    expect(Object.fromEntries(own)).toEqual(statuses);
  });

  test("is the same whatever was called before it was first read", async () => {
    const { text } = await identity.call("GET", "/swagger/json");
    const used = await identity.restarted(ROLES);
    await used.organization();
    const { id } = await used.organization();
    await used.call("GET", `/organizations/${id}/members`);
    await used.call("POST", `/users/${await used.person()}/api-keys`);
    expect((await used.call("GET", "/swagger/json")).text).toBe(text);
  });

  test("describes every operation, parameter, answer and header, and says no word of ours", async () => {
    for (const [name, operation] of await documentedOperations()) {
      const { summary, description, tags, parameters = [], responses } = operation;
      expect({ name, summary, description, tags }).toEqual({
        name,
        summary: expect.stringMatching(/\S/),
        description: expect.stringMatching(/\.$/),
        tags: [expect.any(String)],
      });
      for (const each of parameters) expect(each).toMatchObject({ description: expect.stringMatching(/\S/) });
      for (const status of ["422", "500", "503"]) expect(Object.keys(responses)).toContain(status);
      for (const [status, { description, content }] of Object.entries(responses)) {
        expect(description).not.toBe("Done.");
        expect(content === undefined).toBe(status === "204");
      }
    }
    const { text } = await identity.call("GET", "/swagger/json");
    expect(text).not.toMatch(/"(rule|response_headers|response_description)"/);
  });

  test("names the audit headers of the writes that set them", async () => {
    const operations = Object.fromEntries(await documentedOperations());
    const headers = (name: string, status: string) =>
      Object.keys(operations[name]?.responses[status]?.headers ?? {});
    const pair = ["X-Platform-Audit-Organization", "X-Platform-Audit-Member"];
    expect(headers("POST /users/{user_id}/organizations", "201")).toEqual([
      "X-Platform-Audit-Created",
      ...pair,
    ]);
    expect(headers("POST /users/{user_id}/invites/redeem", "200")).toEqual(pair);
    expect(headers("PATCH /members/{member_id}", "200")).toEqual(["X-Platform-Audit-Details"]);
    expect(headers("GET /members/{member_id}", "200")).toEqual([]);
    expect(headers("DELETE /members/{member_id}", "204")).toEqual([]);
  });
});

describe("the page", () => {
  let running: RunningProcess;
  beforeAll(async () => {
    running = await startProcess("apps/identity/main.ts", { DATABASE_URL: await freshDatabase() });
  });
  afterAll(() => running.stop());

  test.skipIf(browserPath === undefined)(
    "lists every operation in a browser, with nothing from the internet and no complaint",
    async () => {
      await using browser = await launchBrowser();
      const { page, strangers, complaints } = await openSwagger(browser, running.url, "Users-listUsers");
      expect(await page.locator(".opblock").count()).toBe(Object.keys(statuses).length);
      expect(strangers).toEqual([]);
      expect(complaints).toEqual([]);
    },
    PAGE_TIMEOUT_MS,
  );

  test("is off with SWAGGER_ENABLED=false", async () => {
    const silent = await startProcess("apps/identity/main.ts", {
      DATABASE_URL: await freshDatabase(),
      SWAGGER_ENABLED: "false",
    });
    for (const path of ["/swagger", "/swagger/json", "/swagger/assets/swagger-ui.css"]) {
      expect((await fetch(`${silent.url}${path}`)).status).toBe(404);
    }
    expect((await fetch(`${silent.url}/users`)).status).toBe(200);
    await silent.stop();
  });
});
