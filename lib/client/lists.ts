import { isRecord, OstiaryError } from "./client-errors.ts";

/** Reads the page after an item, or the first page. */
type ReadPage = (starting_after: string | undefined) => Promise<unknown>;

/**
 * Yields the pages of a list until the last one.
 * @throws OstiaryError if a response is not a page, or leads back to a page that was read before
 */
export async function* pagesOf(name: string, read: ReadPage): AsyncGenerator<Record<string, unknown>, void> {
  const seen = new Set<string>();
  for (let cursor: string | undefined; ; ) {
    const page = await read(cursor);
    if (!isRecord(page) || !Array.isArray(page[name]) || typeof page.has_more !== "boolean")
      throw unexpected(
        `The response is not a page with a list "${name}" and "has_more": check the path and the name of the list.`,
      );
    yield page;
    if (!page.has_more) return;
    const last: unknown = page[name].at(-1);
    if (!isRecord(last) || typeof last.id !== "string" || seen.has(last.id))
      throw unexpected(
        `The list "${name}" has more pages, but no new item after which they begin: report this to the operator.`,
      );
    cursor = last.id;
    seen.add(cursor);
  }
}

/** Yields the items of all pages. */
export async function* itemsOf(name: string, read: ReadPage): AsyncGenerator<unknown, void> {
  for await (const page of pagesOf(name, read)) {
    const items = page[name];
    if (Array.isArray(items)) yield* items;
  }
}

function unexpected(message: string): OstiaryError {
  return new OstiaryError({ code: "UNEXPECTED_RESPONSE", message });
}
