/** The effects of a change: it opens access, or breaks callers. */
export const EFFECTS = ["opens", "breaks"] as const;
export type Effect = (typeof EFFECTS)[number];

/** A reason to review a change: its effect, and a text that explains the effect. */
export interface ReviewMark {
  readonly effect: Effect;
  readonly reason: string;
}

export const opens = (reason: string): ReviewMark => ({ effect: "opens", reason });
export const breaks = (reason: string): ReviewMark => ({ effect: "breaks", reason });
