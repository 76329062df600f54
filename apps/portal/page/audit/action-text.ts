import type { ShownEvent } from "./logs.ts";

/** An action in words: that it was done, and that somebody tried it. */
export type ActionText = readonly [done: string, tried: string];

export interface ActionTexts {
  /** The actions of Ostiary's own services, by method and route: `PATCH /org`. */
  readonly known: Readonly<Record<string, ActionText>>;
  /** Makes an action of an operation's summary in the edge description. */
  ofSummary(summary: string): ActionText;
}

/** Returns the name under which texts and summaries have the action of an event. */
export function actionKey({ method, route }: Pick<ShownEvent, "method" | "route">): string {
  return `${method} ${route}`;
}

/**
 * Returns what the caller did or tried to do, in words. Returns null for an action that has no words.
 *
 * @param summaries the summaries of the edge description, by method and path
 */
export function actionText(
  event: Pick<ShownEvent, "method" | "route" | "outcome" | "status">,
  texts: ActionTexts,
  summaries: ReadonlyMap<string, string>,
): string | null {
  const key = actionKey(event);
  const summary = summaries.get(key);
  const own = Object.hasOwn(texts.known, key) ? texts.known[key] : undefined;
  const text = own ?? (summary === undefined || summary === key ? undefined : texts.ofSummary(summary));
  if (text === undefined) return null;
  return text[isDone(event) ? 0 : 1];
}

/** Returns whether the service did what the caller asked. */
export function isDone({ outcome, status }: Pick<ShownEvent, "outcome" | "status">): boolean {
  return outcome === "responded" && status !== null && status < 400;
}
