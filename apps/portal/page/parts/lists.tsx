import {
  type Answer,
  Button,
  Empty,
  type Failure,
  FailureNotice,
  foldOf,
  hasWords,
  Loading,
  TextField,
  wordsOf,
} from "@ostiary/lib/page";
import type { Static, TSchema } from "@sinclair/typebox";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Caller, PAGE_ITEMS } from "../gateway.ts";
import { useSession } from "../page-session.ts";
import { type Texts, useFormats, useTexts } from "../texts/texts.ts";

const SEEN_AT_ONCE = 20;

interface SearchedListProps<Item> {
  pages: Pages<Item>;
  /** The accessible name of the search, the label of its field, and the text for an empty list. */
  texts: Readonly<Record<"title" | "search" | "none", string>> & Partial<Pick<Texts, "found" | "noneFound">>;
  /** Whether even a short list has a search field. */
  always?: boolean;
  textOf: (item: Item) => string;
  children: (items: readonly Item[]) => ComponentChildren;
}

/** Shows and searches a list that is read page by page. A search reads all remaining pages. */
export function SearchedList<Item extends { id: string }>(props: SearchedListProps<Item>) {
  const { pages, texts, always = false, textOf, children } = props;
  const t = { ...useTexts(), ...texts };
  const { number } = useFormats();
  const [text, setText] = useState("");
  const [rows, setRows] = useState(ROWS);
  const words = wordsOf(text);
  const searching = words.length > 0;
  useEffect(() => {
    if (searching && pages.has_more && !pages.loading && pages.failure === null) pages.more();
  }, [searching, pages.items.length, pages.loading]);
  const found = searching ? pages.items.filter((item) => hasWords(foldOf(textOf(item)), words)) : pages.items;
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
        <Empty title={searching ? t.noneFound : t.none} />
      )}
      {shown.length > 0 && children(shown)}
      {(found.length > rows || (!searching && pages.has_more)) && (
        <More loading={pages.loading} onMore={more} />
      )}
    </>
  );
}

/** The number of rows that a list shows at first, and that each "Show more" adds. */
export const ROWS = 100;

export function More({ loading, onMore }: { loading: boolean; onMore: () => void }) {
  const texts = useTexts();
  return (
    <Button aria-disabled={loading} onClick={() => !loading && onMore()}>
      {loading ? texts.loading : texts.more}
    </Button>
  );
}

interface Page<Item> {
  items: Item[];
  has_more: boolean;
}

/** A list that is read page by page. */
interface Pages<Item> {
  readonly items: readonly Item[];
  readonly has_more: boolean;
  readonly loading: boolean;
  readonly answered: boolean;
  readonly failure: Failure | null;
  more(): void;
  /** Reads the list again from the start. The current items stay until the first page arrives. */
  again(): void;
}

type State<Item> = Omit<Pages<Item>, "more" | "again">;

const EMPTY = { items: [], has_more: false, loading: true, answered: false, failure: null };

/** Returns a list that is read as a whole. */
export function wholeList<Item>(items: readonly Item[]): Pages<Item> {
  return { ...EMPTY, items, loading: false, answered: true, more() {}, again() {} };
}

/** Reads the list at `path` page by page. `name` is the property of a response that has the items: `members`. */
export function useList<Item extends TSchema & { static: { id: string } }>(
  name: string,
  item: Item,
  path: string,
  as: Caller = "member",
): Pages<Static<Item>> {
  const { gateway } = useSession();
  return usePages(
    (starting_after) => gateway.list(name, item, path, { as, query: { limit: PAGE_ITEMS, starting_after } }),
    path,
  );
}

/**
 * Reads a list page by page. `ask` returns the page after the item with the id `starting_after`. A new `key`
 * makes the list start over, and results for an earlier key are dropped.
 */
export function usePages<Item extends { id: string }>(
  ask: (starting_after: string | undefined) => Promise<Answer<Page<Item>>>,
  key: string,
): Pages<Item> {
  const [state, show] = useState<State<Item>>(EMPTY);
  const question = useRef(0);
  const read = async (before: readonly Item[], starting_after: string | undefined) => {
    question.current += 1;
    const mine = question.current;
    show((was) => ({ ...was, loading: true, failure: null }));
    const answer = await ask(starting_after);
    if (mine !== question.current) return;
    if (!answer.ok) show((was) => ({ ...was, loading: false, failure: answer.failure }));
    else {
      const { items, has_more } = answer.value;
      show({ items: [...before, ...items], has_more, loading: false, answered: true, failure: null });
    }
  };
  useEffect(() => {
    show(EMPTY);
    void read([], undefined);
    return () => {
      question.current += 1;
    };
  }, [key]);
  return {
    ...state,
    more: () => {
      if (!state.loading) void read(state.items, state.items.at(-1)?.id);
    },
    again: () => void read([], undefined),
  };
}
