import { failed, type Result, succeeded } from "./failure.ts";

export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly has_more: boolean;
}

/**
 * Reads the page after the items `before`, and returns it with these items. Fails if the list has more pages, but no
 * new item after which they begin: reading them would never end. `cursorOf` returns the value that tells items apart.
 */
export async function readAfter<Item>(
  before: readonly Item[],
  readPage: (last: Item | undefined) => Promise<Result<ListPage<Item>>>,
  cursorOf: (item: Item) => string,
): Promise<Result<ListPage<Item>>> {
  const page = await readPage(before.at(-1));
  if (!page.ok) return page;
  const { items, has_more } = page.value;
  const [cursor] = items.slice(-1).map(cursorOf);
  const leadsOn = cursor !== undefined && before.every((item) => cursorOf(item) !== cursor);
  return has_more && !leadsOn ? failed("unexpected") : succeeded({ items: [...before, ...items], has_more });
}
