import { spreadOf } from "../../bench/measure/statistics.ts";

/** What a process holds at one moment, its garbage collected. */
export interface Held {
  readonly resident_bytes: number;
  readonly heap_bytes: number;
  readonly descriptors: number;
  readonly timers: number;
}

export type Holding = keyof Held;

/** By how much the last third of the looks may be above the first: a share, and so many besides. */
const GROWTH_MAX: Readonly<Record<Holding, { readonly share: number; readonly besides: number }>> = {
  resident_bytes: { share: 0.25, besides: 24 * 1_048_576 },
  heap_bytes: { share: 0.1, besides: 4 * 1_048_576 },
  descriptors: { share: 0, besides: 20 },
  timers: { share: 0, besides: 20 },
};

export const HOLDINGS = ["resident_bytes", "heap_bytes", "descriptors", "timers"] as const;

export interface Growth {
  readonly holding: Holding;
  /** Medians of the first and of the last third. */
  readonly first: number;
  readonly last: number;
  readonly is_flat: boolean;
}

/** Too few looks to speak of a beginning and an end. */
export const LOOKS_MIN = 6;

/** How each thing that a process holds has grown; empty for too few looks. */
export function growthOf(looks: readonly Held[]): Growth[] {
  if (looks.length < LOOKS_MIN) return [];
  const third = Math.floor(looks.length / 3);
  return HOLDINGS.map((holding) => {
    const values = looks.map((held) => held[holding]);
    const first = spreadOf(values.slice(0, third)).median;
    const last = spreadOf(values.slice(-third)).median;
    const { share, besides } = GROWTH_MAX[holding];
    return { holding, first, last, is_flat: last <= first * (1 + share) + besides };
  });
}
