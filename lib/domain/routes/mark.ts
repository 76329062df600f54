/** What may be said of a change beside what it changes. */
export const EFFECTS = ["opens", "breaks"] as const;
export type Effect = (typeof EFFECTS)[number];

/** One reason to look twice at a change. */
export interface Mark {
  readonly effect: Effect;
  readonly reason: string;
}

export const opens = (reason: string): Mark => ({ effect: "opens", reason });
export const breaks = (reason: string): Mark => ({ effect: "breaks", reason });
