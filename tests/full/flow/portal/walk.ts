/**
 * Visits the portal as people can: each view, one page of each kind that a view links to, and each dialog.
 */
import type { Locator, Page } from "playwright-core";
import type { WatchedPage } from "../../../support/pages/watched-page.ts";

/** A view or an open dialog. */
export interface Stop {
  /** The URL fragment with `{id}` for ids, and the dialog's button: `#/org/{id}/keys, Create a key`. */
  readonly name: string;
  /** The dialog, or the main part of the page. */
  readonly part: Locator;
  readonly isDialog: boolean;
}

const BUTTONS = "main button:not([type=reset], [aria-expanded])";
/** The end of a submit button's name if the button opens a dialog. Other submit buttons make a change. */
const ASKS_FIRST = "…";

/** Returns a function that waits until the page has no request in flight and shows no loading state. */
export function settling(page: Page): () => Promise<void> {
  const underway = new Set<unknown>();
  page.on("request", (request) => underway.add(request));
  page.on("requestfinished", (request) => underway.delete(request));
  page.on("requestfailed", (request) => underway.delete(request));
  return async () => {
    for (let quiet = 0; quiet < 3; ) {
      const loading = await page.evaluate(
        `new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(document.querySelectorAll(".loading").length))))`,
      );
      quiet = underway.size === 0 && loading === 0 ? quiet + 1 : 0;
    }
  };
}

/**
 * Yields each view and open dialog: `fragments`, the links of the navigation, what those pages link to, and
 * their dialogs. Visits only the first of several URLs that differ in ids. Opens dialogs with the keyboard
 * and closes them with Escape. Throws if the focus then does not return to the button.
 */
export async function* walk({ page, go }: WatchedPage, fragments: readonly string[]): AsyncGenerator<Stop> {
  const settled = settling(page);
  const [start = ""] = fragments;
  await go(start);
  await settled();
  const waiting = [...fragments, ...(await linksIn(page, "nav"))];
  const seen = new Set<string>();
  const titles = new Set<string>();
  for (let fragment = waiting.shift(); fragment !== undefined; fragment = waiting.shift()) {
    const name = kindOf(fragment);
    if (seen.has(name) && !fragments.includes(fragment)) continue;
    seen.add(name);
    await go(fragment);
    await settled();
    for (const part of await page.locator("main button[aria-expanded=false]").all()) await part.click();
    yield { name, part: page.locator("main"), isDialog: false };
    waiting.push(...(await linksIn(page, "main")));
    for (const opener of await openersOn(page)) yield* dialogOf(page, settled, { name, opener, titles });
  }
}

interface Opening {
  name: string;
  opener: string;
  /** The titles of the dialogs that were yielded before. */
  titles: Set<string>;
}

/** Presses a button with the keyboard. Yields the dialog that opens, unless `titles` has its title. */
async function* dialogOf(page: Page, settled: () => Promise<void>, { name, opener, titles }: Opening) {
  if (opener.endsWith(ASKS_FIRST)) await fillIn(page);
  const button = page.locator(BUTTONS).getByText(opener, { exact: true }).first();
  await button.focus();
  await page.keyboard.press("Enter");
  await settled();
  const dialog = page.getByRole("dialog");
  if ((await dialog.count()) === 0) return;
  const title = (await dialog.getByRole("heading").first().textContent()) ?? "";
  if (!titles.has(title)) {
    titles.add(title);
    yield { name: `${name}, ${opener}`, part: dialog, isDialog: true };
  }
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  const focused = await page.evaluate("document.activeElement.textContent");
  if (focused !== opener)
    throw new Error(`${name}: the focus did not return to ${opener}. It is on ${focused}.`);
}

/** Fills each text field, because the button of an incomplete form opens no dialog. */
async function fillIn(page: Page): Promise<void> {
  for (const text of await page.locator("main form input[type=text]").all()) await text.fill("1");
}

/** Removes the query string from a URL fragment and replaces ids with `{id}`. */
function kindOf(fragment: string): string {
  const [path = ""] = fragment.split("?");
  const segments = path.split("/");
  return segments
    .map((segment, at) => (/\d/.test(segment) || segments[at - 1] === "reference" ? "{id}" : segment))
    .join("/");
}

async function linksIn(page: Page, part: string): Promise<string[]> {
  const found = await page.locator(`${part} a[href^="#/"]`).evaluateAll((links) => links.map(String));
  return found.map((href) => new URL(href).hash);
}

/** Returns the names of the page's buttons, except those that make a change at once. */
async function openersOn(page: Page): Promise<string[]> {
  const names: string[] = [];
  for (const button of await page.locator(BUTTONS).all()) {
    const name = (await button.textContent()) ?? "";
    const makesChange = (await button.getAttribute("type")) === "submit" && !name.endsWith(ASKS_FIRST);
    if (!makesChange && !names.includes(name)) names.push(name);
  }
  return names;
}
