/** Tests of how customers sign in to the portal at the identity provider, in a browser. */
import { describe, expect, test } from "bun:test";
import type { Route } from "playwright-core";
import {
  ANY_JWT,
  CANNOT_RETURN,
  everyRequest,
  exchangesOf,
  KEPT_BY_PAGE,
  stateOf,
  tokenWith,
} from "../../../support/pages/sign-in-pages.ts";
import { browserPath } from "../../../support/pages/swagger-page.ts";
import { goToProvider, refuse, signIn, usePortal } from "./bed.ts";

const respondWithHtml = (route: Route) =>
  route.fulfill({
    contentType: "text/html",
    body: "<p>Down",
    headers: { "Access-Control-Allow-Origin": "*" },
  });

describe.skipIf(browserPath === undefined)("a customer of the portal", () => {
  const bed = usePortal();

  const returnAddress = (parameters: Record<string, string>) =>
    `${bed.gatewayUrl}/portal/signed-in?${new URLSearchParams(parameters)}`;

  // PT-10, PT-12
  test("signs in with the code flow and PKCE, and the URL shows neither code nor state", async () => {
    const { page, forbiddenUrls, complaints } = await bed.visit();
    const seen = everyRequest(page);
    await signIn(page, "ada");
    const asked = seen
      .map((request) => new URL(request.url()))
      .find(({ pathname }) => pathname === "/authorize");
    expect(Object.fromEntries(asked?.searchParams ?? [])).toEqual({
      response_type: "code",
      client_id: "portal",
      redirect_uri: `${bed.gatewayUrl}/portal/signed-in`,
      scope: "openid profile",
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
    });
    await page.getByText("Signed in as ada").waitFor();
    expect(page.url()).toBe(`${bed.gatewayUrl}/portal#/`);
    expect(await page.evaluate("history.length")).toBeLessThan(5);
    expect([forbiddenUrls, complaints]).toEqual([[], []]);
  });

  // PT-11
  test("has no token in browser storage, a cookie, a URL, the title or an attribute", async () => {
    const { page } = await bed.visit();
    const seen = everyRequest(page);
    await signIn(page, "ada");
    await page.getByRole("button", { name: "Create an organization" }).waitFor();
    const token = await seen.find((request) => request.url().endsWith("/user"))?.headerValue("authorization");
    expect(token).toMatch(/^Bearer ey/);
    const kept = await page.evaluate(KEPT_BY_PAGE);
    expect(kept).not.toContain(token?.split(".").at(-1) ?? "no token");
    expect(kept).not.toMatch(ANY_JWT);
    expect(seen.filter((request) => ANY_JWT.test(request.url()))).toEqual([]);
    const cookies = await page.context().cookies(bed.gatewayUrl);
    expect(cookies.filter(({ path }) => path !== "/authorize")).toEqual([]);
  });

  // PT-14
  test("is signed in again after a reload, without a prompt", async () => {
    const { page } = await bed.open("ada");
    const seen = everyRequest(page);
    await page.reload();
    await page.getByText("Signed in as ada").waitFor();
    const asked = seen
      .map((request) => new URL(request.url()))
      .find(({ pathname }) => pathname === "/authorize");
    expect(asked?.searchParams.get("prompt")).toBe("none");
  });

  // PT-16
  test("is signed out at the provider too, and the page forgets the person", async () => {
    const { page } = await bed.open("ada");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(`${bed.gatewayUrl}/portal`);
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    expect(await page.evaluate("JSON.stringify({ ...sessionStorage })")).toBe("{}");
    expect(await page.getByText("ada").count()).toBe(0);
    await goToProvider(page);
  });

  // PT-12
  test.each([
    ["this window did not start", false, {}],
    ["has another state", true, { state: "another" }],
    ["has no issuer", true, { iss: "" }],
  ])("cannot sign in with a redirect that %s; its code is not sent", async (_what, begins, wrong) => {
    const { page } = await bed.visit();
    const seen = everyRequest(page);
    if (begins) await goToProvider(page);
    const parameters = { code: "a-code", state: stateOf(page) || "any", iss: bed.providerUrl, ...wrong };
    const given = Object.entries(parameters).filter(([, value]) => value !== "");
    await page.goto(returnAddress(Object.fromEntries(given)));
    await page.getByText(CANNOT_RETURN).waitFor();
    expect(page.url()).toBe(`${bed.gatewayUrl}/portal#/`);
    expect(exchangesOf(seen)).toEqual([]);
  });

  // PT-13
  test.each([
    ["another sign-in", { nonce: "another" }, CANNOT_RETURN],
    ["another issuer", { iss: "https://login.example.com" }, CANNOT_RETURN],
    ["another client", { aud: "another" }, CANNOT_RETURN],
    ["a past time, as a wrong clock sees it", { exp: 1 }, /The clock of this device is wrong/],
  ])("cannot sign in with an ID token of %s", async (_what, wrong, says) => {
    const { page } = await bed.visit();
    await goToProvider(page);
    const asked = new URL(page.url()).searchParams;
    const now = Math.floor(Date.now() / 1_000);
    const right = { iss: bed.providerUrl, aud: "portal", sub: "ada", nonce: asked.get("nonce") };
    await page.route("**/authorize/token", (route) =>
      route.fulfill({
        headers: { "Access-Control-Allow-Origin": "*" },
        json: {
          access_token: "a-token",
          token_type: "Bearer",
          id_token: tokenWith({ ...right, iat: now, exp: now + 600, ...wrong }),
        },
      }),
    );
    await page.getByRole("button", { name: "alice" }).click();
    await page.getByText(says).waitFor();
    expect(await page.getByRole("navigation", { name: "Portal" }).count()).toBe(0);
  });

  // PT-13
  test("sees why the provider refused the sign-in, as text", async () => {
    const { page } = await bed.visit();
    await goToProvider(page);
    const reason = `<img src=x onerror="window.ran=1">`;
    const error = { error: "access_denied", error_description: reason };
    await page.goto(returnAddress({ ...error, state: stateOf(page), iss: bed.providerUrl }));
    await page.getByText("The identity provider refused the sign-in.").waitFor();
    await page.getByText(reason).waitFor();
    expect(await page.evaluate("window.ran")).toBeUndefined();
  });

  // PT-15
  test("sees when the provider does not respond, or when the gateway refuses the token", async () => {
    const { page } = await bed.visit();
    await page.route("**/.well-known/openid-configuration", (route) => route.abort());
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("The identity provider does not respond.").waitFor();
    await page.unroute("**/.well-known/openid-configuration");
    await page.route("**/user", refuse);
    await goToProvider(page);
    await page.getByRole("button", { name: "alice" }).click();
    await page.getByText("The gateway does not accept your sign-in.").waitFor();
  });

  // PT-15
  test.each<[string, (route: Route) => unknown]>([
    ["is silent", () => undefined],
    ["is behind a proxy that responds with HTML", respondWithHtml],
  ])("sees that the provider does not respond when it %s", async (_what, respond) => {
    const { page } = await bed.visit();
    await page.addInitScript(`
      const timeout = AbortSignal.timeout.bind(AbortSignal);
      AbortSignal.timeout = (ms) => timeout(ms / 100);
    `);
    await goToProvider(page);
    await page.route("**/authorize/token", respond);
    await page.getByRole("button", { name: "alice" }).click();
    await page.getByText("The identity provider does not respond.").waitFor();
  });

  // PT-15
  test.each([
    [
      "the page was opened without https",
      "Object.defineProperty(window, 'isSecureContext', { value: false })",
      "Open this page with https",
    ],
    [
      "the browser blocks the storage",
      "Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('', 'SecurityError'); } })",
      "Your browser blocks the storage",
    ],
  ])("sees that %s, also with the link of an invitation", async (_what, script, says) => {
    for (const path of ["/portal", "/portal/invite?#inv_x"]) {
      const { page, complaints } = await bed.visit({ path: "/portal/none" });
      await page.addInitScript(script);
      await page.goto(`${bed.gatewayUrl}${path}`);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("alert").getByText(says).waitFor();
      expect(complaints.filter((complaint) => !complaint.includes("404"))).toEqual([]);
    }
  });

  // PT-15
  test("must sign in again when the access token is refused, and returns to the same page", async () => {
    const { page, go } = await bed.open("ada");
    const id = await bed.organization("ada", "Engines");
    await page.route("**/user/**", refuse);
    await go(`#/org/${id}/overview`);
    await page.getByText("You are signed out").waitFor();
    await page.unroute("**/user/**");
    await page.getByRole("button", { name: "Sign in again" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    expect(page.url()).toBe(`${bed.gatewayUrl}/portal#/org/${id}/overview`);
  });

  // PT-12
  test("stays at the gateway's origin after a sign-in that started at another origin's path", async () => {
    const { page, forbiddenUrls, complaints } = await bed.open("ada", { path: "/portal#//example.com" });
    expect(new URL(page.url()).href).toStartWith(`${bed.gatewayUrl}/portal`);
    expect([forbiddenUrls, complaints]).toEqual([[], []]);
  });
});
