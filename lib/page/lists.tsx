import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Button } from "./button.tsx";
import type { Result } from "./failure.ts";
import { TextField } from "./fields.tsx";
import { type ListPage, readAfter } from "./list-pages.ts";
import { type PageTexts, usePageTexts } from "./page-texts.ts";
import { foldOf, hasWords, wordsOf } from "./search.ts";
import { Empty } from "./shown.tsx";
import { Loaded, type RequestState, useRequest } from "./use-request.tsx";

/** A list that is read page by page. `reload` reads it from the start. */
export interface Pages<Item> extends ListPage<Item>, RequestState<ListPage<Item>> {
  more(): void;
}

/** Returns items that are all known as a list without further pages. */
export function wholeList<Item>(items: readonly Item[]): Pages<Item> {
  const page = { items, has_more: false };
  return { ...page, loading: false, value: page, failure: null, more() {}, async reload() {} };
}

const NO_ITEMS = { items: [], has_more: false };

/**
 * Reads a list page by page. `readPage` returns the page after the item `last`. A new `key` makes the list start
 * over, and results for an earlier key are dropped.
 */
export function usePages<Item>(
  readPage: (last: Item | undefined) => Promise<Result<ListPage<Item>>>,
  cursorOf: (item: Item) => string,
  key: string,
): Pages<Item> {
  const read = (before: readonly Item[]) => readAfter(before, readPage, cursorOf);
  const { run, ...request } = useRequest(() => read([]), key);
  const { items, has_more } = request.value ?? NO_ITEMS;
  const more = () => void (request.loading || run(() => read(items)));
  return { ...request, items, has_more, more };
}

interface RowsProps<Item> {
  rows: readonly Item[];
  /** The list that has further rows, if it is not read to its end. */
  pages?: Pages<unknown> | undefined;
  /** The number of rows that must be shown at first. */
  least?: number;
  children: (rows: readonly Item[]) => ComponentChildren;
}

/** The number of rows that a list shows at first, and that each "Show more" adds. */
const ROWS = 100;

/** Shows the first rows of a list, and more on demand, so that a long list appears fast. */
export function Rows<Item>({ rows, pages, least = 0, children }: RowsProps<Item>) {
  const { texts } = usePageTexts();
  const [shown, show] = useState(Math.max(ROWS, least));
  const { loading = false, has_more = false } = pages ?? {};
  const more = () => {
    show(shown + ROWS);
    if (has_more) pages?.more();
  };
  return (
    <>
      {children(rows.slice(0, shown))}
      {(rows.length > shown || has_more) && (
        <Button aria-disabled={loading} onClick={() => !loading && more()}>
          {loading ? texts.loading : texts.more}
        </Button>
      )}
    </>
  );
}

interface PagedRowsProps<Item> {
  pages: Pages<Item>;
  /** The items to show. By default, shows all. */
  rows?: readonly Item[];
  /** Whether to offer further pages. By default, offers them. */
  offersMore?: boolean;
  /** The names of the fields that show their own problems. */
  shown?: readonly string[];
  children: (rows: readonly Item[]) => ComponentChildren;
}

/** Shows a list that is read page by page, a placeholder before its first page, and a notice if a page failed. */
export function PagedRows<Item>(props: PagedRowsProps<Item>) {
  const { pages, rows = pages.items, offersMore = true, shown, children } = props;
  return (
    <Loaded request={pages} shown={shown}>
      {() => (
        <Rows rows={rows} pages={offersMore ? pages : undefined}>
          {children}
        </Rows>
      )}
    </Loaded>
  );
}

/** A longer list has a search field. */
const SEEN_AT_ONCE = 20;

interface SearchedListProps<Item> {
  pages: Pages<Item>;
  /** The accessible name of the search, the label of its field, and the text for an empty list. */
  texts: Readonly<Record<"title" | "search" | "none", string>> &
    Partial<Pick<PageTexts["texts"], "found" | "noneFound">>;
  /** Whether even a short list has a search field. */
  always?: boolean;
  textOf: (item: Item) => string;
  children: (items: readonly Item[]) => ComponentChildren;
}

/** Shows and searches a list that is read page by page. A search reads all remaining pages. */
export function SearchedList<Item>(props: SearchedListProps<Item>) {
  const { pages, texts, always = false, textOf, children } = props;
  const { formats, texts: own } = usePageTexts();
  const t = { ...own, ...texts };
  const [text, setText] = useState("");
  const words = wordsOf(text);
  const searching = words.length > 0;
  useEffect(() => {
    if (searching && pages.has_more && !pages.loading && pages.failure === null) pages.more();
  }, [searching, pages.items.length, pages.loading]);
  const folded = useMemo(() => pages.items.map((item) => foldOf(textOf(item))), [pages.items]);
  const found = searching
    ? pages.items.filter((_, index) => hasWords(folded[index] ?? "", words))
    : pages.items;
  return (
    <>
      {(always || pages.has_more || pages.items.length > SEEN_AT_ONCE || text !== "") && (
        <search class="filters" aria-label={texts.title}>
          <TextField label={texts.search} value={text} onInput={setText} />
        </search>
      )}
      {pages.value !== null && (
        <p class="found" role="status">
          {searching && t.found(formats.number(found.length), formats.number(pages.items.length))}
        </p>
      )}
      <PagedRows key={String(searching)} pages={pages} rows={found} offersMore={!searching}>
        {(rows) => {
          if (rows.length > 0) return children(rows);
          return !pages.loading && <Empty title={searching ? t.noneFound : t.none} />;
        }}
      </PagedRows>
    </>
  );
}
