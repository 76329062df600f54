import type { Answer, Failure } from "@ostiary/lib/page";
import type { Static, TSchema } from "@sinclair/typebox";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Caller } from "../gateway.ts";
import { useSession } from "../page-session.ts";

/** The page size that the portal asks for, which is the maximum that services allow. */
export const PAGE_ITEMS = 100;

interface Page<Item> {
  items: Item[];
  has_more: boolean;
}

/** A list that is read page by page. */
export interface Pages<Item> {
  readonly items: readonly Item[];
  readonly has_more: boolean;
  readonly loading: boolean;
  /** Whether at least one page has arrived. */
  readonly answered: boolean;
  readonly failure: Failure | null;
  /** Reads the next page. */
  more(): void;
  /** Reads the list again from the start. The current items stay until the first page arrives. */
  again(): void;
}

type State<Item> = Omit<Pages<Item>, "more" | "again">;

const EMPTY = { items: [], has_more: false, loading: true, answered: false, failure: null };

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
