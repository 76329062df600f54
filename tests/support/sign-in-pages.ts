import type { Page, Request } from "playwright-core";

/** Helpers for the tests of every page with a sign-in: the toy provider, and what a page keeps and sends. */

/** An expression for everything that a page can keep, as one text. */
export const KEPT_BY_PAGE = `(async () => JSON.stringify([
  { ...localStorage }, { ...sessionStorage }, document.cookie, location.href, document.title, history.state,
  document.documentElement.outerHTML, await indexedDB.databases(), await caches.keys(), window.name,
]))()`;

/** The sentence that refuses a return without a sign-in of the window. */
export const CANNOT_RETURN = /did not start in this window/;

/** Makes a token whose signature nobody made. */
export function tokenWith(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "ES256" })}.${part(claims)}.${Buffer.alloc(64).toString("base64url")}`;
}

/** Waits until the toy provider asks for a name. */
export async function untilAsked(page: Page): Promise<void> {
  await page.getByRole("heading", { name: "Who are you?" }).waitFor();
}

/** Chooses a name at the toy provider. */
export async function chooseName(page: Page, name: string): Promise<void> {
  await page.getByLabel("Another name").fill(name);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Returns the state of the sign-in that the provider's page now shows. */
export function stateOf(page: Page): string {
  return new URL(page.url()).searchParams.get("state") ?? "";
}

/** Collects the requests of a page from now on. */
export function everyRequest(page: Page): Request[] {
  const seen: Request[] = [];
  page.on("request", (request) => seen.push(request));
  return seen;
}

/** Returns the requests that exchanged a code. */
export function exchangesOf(seen: readonly Request[]): Request[] {
  return seen.filter((request) => request.url().endsWith("/authorize/token"));
}
