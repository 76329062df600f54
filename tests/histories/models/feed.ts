import type { Model } from "../checker/model.ts";

export type FeedCall =
  | { readonly kind: "append"; readonly name: string }
  /** A page after an event; null reads from the begin of the run. */
  | { readonly kind: "read"; readonly after: string | null };

export type FeedAnswer =
  | { readonly kind: "appended" }
  | { readonly kind: "read"; readonly ids: readonly string[] };

/** An event of the feed as it stands at the end. */
export interface FeedEvent {
  readonly id: string;
  /** The name of the organization that was made; null for other events. */
  readonly name: string | null;
}

/**
 * The feed has each event once, in an order that agrees with the order of the writes: the claim of ID-96. A
 * page may lag behind, but leaves nothing out. The state is the number of events that are written.
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
