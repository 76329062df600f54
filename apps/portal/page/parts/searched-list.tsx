import { Empty, FailureNotice, hasWords, Loading, TextField, wordsOf } from "@ostiary/lib/page";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useFormats, useTexts } from "../texts/texts.ts";
import { More, ROWS } from "./more.tsx";
import type { Pages } from "./use-pages.ts";

/** The maximum number of items in a list without a search field. */
const SEEN_AT_ONCE = 20;

interface SearchedListProps<Item> {
  pages: Pages<Item>;
  /** The accessible name of the search, the label of its field, and the text for an empty list. */
  texts: Readonly<Record<"title" | "search" | "none", string>>;
  /** Whether even a short list has a search field. */
  always?: boolean;
  /** Returns the searchable text of an item. */
  textOf: (item: Item) => string;
  /** Renders the items that match the search. */
  children: (items: readonly Item[]) => ComponentChildren;
}

/** Shows and searches a list that is read page by page. A search reads all remaining pages. */
export function SearchedList<Item extends { id: string }>(props: SearchedListProps<Item>) {
  const { pages, texts, always = false, textOf, children } = props;
  const t = useTexts();
  const { number } = useFormats();
  const [text, setText] = useState("");
  const [rows, setRows] = useState(ROWS);
  const words = wordsOf(text);
  const searching = words.length > 0;
  useEffect(() => {
    if (searching && pages.has_more && !pages.loading && pages.failure === null) pages.more();
  }, [searching, pages.items.length, pages.loading]);
  const found = searching
    ? pages.items.filter((item) => hasWords(textOf(item).toLowerCase(), words))
    : pages.items;
  const shown = found.slice(0, rows);
  const more = () => {
    setRows(rows + ROWS);
    if (!searching && pages.has_more) pages.more();
  };
  const isLong = always || pages.has_more || pages.items.length > SEEN_AT_ONCE;
  return (
    <>
      {(isLong || text !== "") && (
        <search class="filters" aria-label={texts.title}>
          <TextField
            label={texts.search}
            value={text}
            onInput={(written) => {
              setText(written);
              setRows(ROWS);
            }}
          />
        </search>
      )}
      {pages.failure !== null && <FailureNotice failure={pages.failure} onRetry={pages.again} />}
      {!pages.answered && pages.loading && <Loading />}
      {pages.answered && (
        <p class="found" role="status">
          {searching && t.found(number(found.length), number(pages.items.length))}
        </p>
      )}
      {pages.answered && shown.length === 0 && !pages.loading && (
        <Empty title={searching ? t.noneFound : texts.none} />
      )}
      {shown.length > 0 && children(shown)}
      {(found.length > rows || (!searching && pages.has_more)) && (
        <More loading={pages.loading} onMore={more} />
      )}
    </>
  );
}
