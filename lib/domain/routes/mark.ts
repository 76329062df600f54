/** The effects of a change: it opens access, or breaks callers. */
export const EFFECTS = ["opens", "breaks"] as const;
export type Effect = (typeof EFFECTS)[number];

/** A reason to review a change: its effect, and a text that explains the effect. */
export interface Mark {
  readonly effect: Effect;
  readonly reason: string;
}

export const opens = (reason: string): Mark => ({ effect: "opens", reason });
export const breaks = (reason: string): Mark => ({ effect: "breaks", reason });
