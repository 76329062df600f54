import type { ShownEvent } from "./logs.ts";

/** An action in words: that it was done, and that somebody tried it. */
export type Deed = readonly [done: string, tried: string];

export interface DeedTexts {
  /** The actions of Ostiary's own services, by method and route: `PATCH /org`. */
  readonly known: Readonly<Record<string, Deed>>;
  /** Makes an action of an operation's summary in the edge description. */
  ofSummary(summary: string): Deed;
}

/** Returns the name under which texts and summaries have the action of an event. */
export function actionOf({ method, route }: Pick<ShownEvent, "method" | "route">): string {
  return `${method} ${route}`;
}

/**
 * Returns what the caller did or tried to do, in words. Returns null for an action that has no words.
 *
 * @param summaries the summaries of the edge description, by method and path
 */
export function deedOf(
  event: Pick<ShownEvent, "method" | "route" | "outcome" | "status">,
  texts: DeedTexts,
  summaries: ReadonlyMap<string, string>,
): string | null {
  const action = actionOf(event);
  const summary = summaries.get(action);
  const own = Object.hasOwn(texts.known, action) ? texts.known[action] : undefined;
  const deed = own ?? (summary === undefined || summary === action ? undefined : texts.ofSummary(summary));
  if (deed === undefined) return null;
  return deed[isDone(event) ? 0 : 1];
}

/** Returns whether the service did what the caller asked. */
export function isDone({ outcome, status }: Pick<ShownEvent, "outcome" | "status">): boolean {
  return outcome === "responded" && status !== null && status < 400;
}
