import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type IdentityProvider, startIdentityProvider } from "@ostiary/demo";
import type { Page, Route } from "playwright-core";
import { service } from "../../../app/registry/bed.ts";
import { OperatorsFile } from "../../../app/registry/operators.ts";
import {
  ANY_JWT,
  chooseName,
  everyRequest,
  KEPT_BY_PAGE,
  untilAsked,
} from "../../../support/pages/sign-in-pages.ts";
import { browserPath, PAGE_TIMEOUT_MS } from "../../../support/pages/swagger-page.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { area, review, useConsole } from "./bed.ts";

setDefaultTimeout(PAGE_TIMEOUT_MS);

const buttonOf = (page: Page) => page.getByRole("button", { name: "Sign in with your company's account" });

describe.skipIf(browserPath === undefined)("the console with an identity provider", () => {
  const file = new OperatorsFile();
  beforeAll(() =>
    file.write(
      { name: "ada", role: "admin", claims: { sub: "ada" } },
      { name: "docs", role: "reader", claims: { sub: "grace" } },
    ),
  );
  let provider: IdentityProvider;
  const bed = useConsole({ widgets: service("/widgets") }, async () => {
    provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 });
    return {
      OPERATORS_FILE: file.path,
      OPERATOR_ISSUER: provider.issuer,
      OPERATOR_JWKS_URI: provider.jwks_uri,
      OPERATOR_AUDIENCE: "registry",
      CONSOLE_CLIENT_ID: "console",
      CONSOLE_AUDIENCE: "registry",
    };
  });
  afterAll(() => provider.stop());

  async function goToProvider(page: Page): Promise<void> {
    await buttonOf(page).click();
    await untilAsked(page);
  }
  async function signedIn(name: string, fragment = "") {
    const shown = await bed.visit({ fragment });
    await goToProvider(shown.page);
    await chooseName(shown.page, name);
    await shown.page.getByText("Signed in as").waitFor();
    return shown;
  }

  // RG-136, RG-137, RG-139
  test("signs an operator in by the code flow with PKCE, stores no token, writes as the operator and signs out", async () => {
    const { page, complaints } = await bed.visit({ fragment: "#/apply" });
    const seen = everyRequest(page);
    await goToProvider(page);
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      response_type: "code",
      client_id: "console",
      redirect_uri: `${bed.registry.url}/console/signed-in`,
      scope: "openid profile",
      audience: "registry",
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
    });
    await chooseName(page, "ada");
    await page.getByText("Signed in as ada, admin").waitFor();
    expect(page.url()).toBe(`${bed.registry.url}/console#/apply`);
    const kept = await page.evaluate(KEPT_BY_PAGE);
    expect(kept).not.toMatch(ANY_JWT);
    expect(seen.filter((request) => ANY_JWT.test(request.url()))).toEqual([]);

    await review(page, { "by-ada": service("/by-ada") });
    await page.getByRole("button", { name: "Apply …" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Apply to 1 service" }).click();
    await page.getByRole("heading", { name: "The document is applied" }).waitFor();
    const { body } = await bed.registry.call("GET", "/services/by-ada/revisions/1");
    expect(body.operator).toBe("ada");

    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(`${bed.registry.url}/console`);
    await buttonOf(page).waitFor();
    expect(await page.evaluate("JSON.stringify({ ...sessionStorage })")).toBe("{}");
    // The identity provider asks for the account again, so its own session has ended too.
    await goToProvider(page);
    expect(complaints).toEqual([]);
  });

  // RG-139
  test("shows nothing to an account that is not an operator, says so, and lets the person choose another account", async () => {
    const { page } = await bed.visit();
    await goToProvider(page);
    await chooseName(page, "mallory");
    await page
      .getByRole("alert")
      .filter({ hasText: "Your account is not an operator of this registry" })
      .waitFor();
    expect(await page.getByRole("navigation").count()).toBe(0);
    expect(await page.evaluate("JSON.stringify({ ...sessionStorage })")).toBe("{}");
    await page.getByRole("button", { name: "Choose another account" }).click();
    await page.waitForURL(`${bed.registry.url}/console`);
    await goToProvider(page);
    await chooseName(page, "grace");
    await page.getByText("Signed in as docs, reader").waitFor();
  });

  // RG-138
  test("renews an expiring token once for all concurrent calls, and says if it cannot", async () => {
    const { page } = await bed.visit();
    let renewals = 0;
    let first: Record<string, unknown> = {};
    await page.route("**/authorize/token", async (route) => {
      if (new URLSearchParams(route.request().postData() ?? "").get("grant_type") === "refresh_token") {
        renewals += 1;
        if (renewals === 3) return route.abort();
        return fulfil(route, { ...first, id_token: undefined, expires_in: renewals < 3 ? 1 : 3_600 });
      }
      first = await (await route.fetch()).json();
      return fulfil(route, { ...first, expires_in: 1, refresh_token: "refresh-1" });
    });
    await goToProvider(page);
    await chooseName(page, "ada");
    await page.getByRole("table", { name: "Routes" }).waitFor();
    // one for the operator, and one for the services and the operator
    expect(renewals).toBe(2);
    await page.getByRole("button", { name: "Reload" }).click();
    const alert = page.getByRole("alert");
    await alert.getByText("The identity provider does not respond. Try again in a moment.").waitFor();
    expect(await page.getByRole("table", { name: "Routes" }).isVisible()).toBe(true);
    await alert.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("status").filter({ hasText: "All services were reloaded." }).waitFor();
    expect(renewals).toBe(4);
  });

  const fulfil = (route: Route, json: Record<string, unknown>) =>
    route.fulfill({ headers: { "Access-Control-Allow-Origin": "*" }, json });

  // RG-138
  test("returns to the same view and document after an expired sign-in is renewed", async () => {
    const { page, go } = await signedIn("ada", "#/apply");
    await area(page).fill("services: {} # mine");
    const refuse = (route: Route) =>
      route.continue({ headers: { ...route.request().headers(), authorization: "Bearer old" } });
    await page.route("**/apply*", refuse);
    await page.getByRole("button", { name: "Review the changes" }).click();
    await page.getByText("Your sign-in has ended.").waitFor();
    await page.unroute("**/apply*", refuse);
    await buttonOf(page).click();
    await page.getByRole("heading", { level: 1, name: "Apply a document" }).waitFor();
    expect(await area(page).inputValue()).toBe("services: {} # mine");
    await waitFor(
      async () => (await page.evaluate(`"ostiary.console.document" in sessionStorage`)) === false,
    );
    await go("#/routes");
    await page.getByRole("table", { name: "Routes" }).waitFor();
  });
});
