import type { Model } from "../checker/model.ts";

export type FeedCall =
  | { readonly kind: "append"; readonly name: string }
  /** The page after an event. `after` is null for the first page of the history. */
  | { readonly kind: "read"; readonly after: string | null };

export type FeedAnswer =
  | { readonly kind: "appended" }
  | { readonly kind: "read"; readonly ids: readonly string[] };

/** An event of the feed, which is read completely after all calls. */
export interface FeedEvent {
  readonly id: string;
  /** The name of the created organization; null if the event is of another type. */
  readonly name: string | null;
}

/**
 * The model of ID-96: the feed contains each event once, in an order that agrees with the writes. A page may
 * lack the newest events, but has no gaps. The state is the number of events that are written.
 */
export function feedOf(events: readonly FeedEvent[]): Model<number, FeedCall, FeedAnswer> {
  const places = new Map(events.map(({ id }, index) => [id, index + 1]));
  const appends = Map.groupBy(
    events.flatMap(({ name }, index) => (name === null ? [] : [{ name, place: index + 1 }])),
    ({ name }) => name,
  );
  return {
    name: "feed",
    keyOf: () => "feed",
    begin: () => 0,
    step(written, call, answer) {
      if (call.kind === "append") {
        const [found, ...more] = appends.get(call.name) ?? [];
        return found !== undefined && more.length === 0 && found.place > written ? found.place : null;
      }
      if (answer === null) return written;
      if (answer.kind !== "read") return null;
      const from = call.after === null ? 0 : places.get(call.after);
      if (from === undefined) return null;
      const page = events.slice(from, from + answer.ids.length);
      const isWhole = page.length === answer.ids.length && page.every(({ id }, at) => id === answer.ids[at]);
      const newest = page.findLastIndex(({ name }) => name !== null);
      return isWhole && from + newest + 1 <= Math.max(written, from) ? written : null;
    },
    leavesState: ({ kind }) => kind === "read",
    textOf: String,
  };
}
