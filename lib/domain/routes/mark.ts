/** The effects that a mark can state. */
export const EFFECTS = ["opens", "breaks"] as const;
export type Effect = (typeof EFFECTS)[number];

/** A reason to check a change with care. */
export interface Mark {
  readonly effect: Effect;
  readonly reason: string;
}

export const opens = (reason: string): Mark => ({ effect: "opens", reason });
export const breaks = (reason: string): Mark => ({ effect: "breaks", reason });
