/** Functions for the tests of pages with a sign-in at the demo's identity provider. */
import type { Page, Request } from "playwright-core";

/** A JavaScript expression for everything that a page can store or show, as one text. */
export const KEPT_BY_PAGE = `(async () => JSON.stringify([
  { ...localStorage }, { ...sessionStorage }, document.cookie, location.href, document.title, history.state,
  document.documentElement.outerHTML, await indexedDB.databases(), await caches.keys(), window.name,
]))()`;

/**
 * Matches the error that a page shows after a redirect from the identity provider, if no sign-in began in the
 * same window.
 */
export const CANNOT_RETURN = /did not start in this window/;

/**
 * Matches a JWT. Random text such as a `state` cannot match: it has no dot, but can contain the letters with which a
 * JWT begins.
 */
export const ANY_JWT = /eyJ[\w-]+\.[\w-]+\./;

export function tokenWith(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "ES256" })}.${part(claims)}.${Buffer.alloc(64).toString("base64url")}`;
}

/** Waits until the demo's identity provider asks for a name. */
export async function untilAsked(page: Page): Promise<void> {
  await page.getByRole("heading", { name: "Who are you?" }).waitFor();
}

export async function chooseName(page: Page, name: string): Promise<void> {
  await page.getByLabel("Another name").fill(name);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Returns the `state` of the authorization request from the URL of the identity provider's page. */
export function stateOf(page: Page): string {
  return new URL(page.url()).searchParams.get("state") ?? "";
}

/** Returns a list that collects the requests of a page from now on. */
export function everyRequest(page: Page): Request[] {
  const seen: Request[] = [];
  page.on("request", (request) => seen.push(request));
  return seen;
}

/** Returns the requests that exchanged an authorization code or refresh token for tokens. */
export function exchangesOf(seen: readonly Request[]): Request[] {
  return seen.filter((request) => request.url().endsWith("/authorize/token"));
}
