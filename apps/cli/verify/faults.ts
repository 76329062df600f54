/** What can be wrong with an export that is to prove something. */
export type FaultKind = "changed" | "removed" | "added" | "moved" | "rebuilt" | "checkpoint" | "unreadable";

export interface Fault {
  kind: FaultKind;
  /** One sentence for a person. */
  message: string;
  /** The event that it is about, or comes right before or after. */
  event_id: string | null;
  /** In the chain; those without one come last. */
  position: number | null;
}

/** A file that is wrong from end to end must not fill the memory: of more faults the first ones are kept. */
const KEPT_MAX = 1_000;

/** Faults in the order of the chain, however they are found. */
export class Faults {
  #kept: Fault[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(
    kind: FaultKind,
    message: string,
    at: { event_id?: string | null; position?: number | null } = {},
  ): void {
    this.#count += 1;
    this.#kept.push({ kind, message, event_id: at.event_id ?? null, position: at.position ?? null });
    if (this.#kept.length >= 2 * KEPT_MAX) this.#kept = this.first(KEPT_MAX);
  }

  first(count: number): Fault[] {
    return this.#kept.toSorted((a, b) => placeOf(a) - placeOf(b)).slice(0, count);
  }
}

/** A line that can not be read explains what seems to be missing. */
function placeOf({ kind, position }: Fault): number {
  return kind === "unreadable" ? 0 : (position ?? Number.POSITIVE_INFINITY);
}
