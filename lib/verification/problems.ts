/** The kinds of problems in an export with proof. */
export type ProblemKind = "changed" | "removed" | "added" | "moved" | "rebuilt" | "checkpoint" | "unreadable";

export interface Problem {
  kind: ProblemKind;
  /** One sentence for a person. */
  message: string;
  /** The event with the problem, or the one next to it. */
  event_id: string | null;
  /** The position in the chain; problems without one come last. */
  position: number | null;
}

/** The number of problems to keep, lowest positions first, so that a broken file does not exhaust memory. */
const KEPT_MAX = 1_000;

/** Problems in the order of the chain, and questions that stay open. */
export class Problems {
  #kept: Problem[] = [];
  #count = 0;
  readonly #undecided = new Set<string>();

  get count(): number {
    return this.#count;
  }

  /** One sentence for each question that the files leave open. */
  get undecided(): string[] {
    return [...this.#undecided];
  }

  add(
    kind: ProblemKind,
    message: string,
    at: { event_id?: string | null; position?: number | null } = {},
  ): void {
    this.#count += 1;
    this.#kept.push({ kind, message, event_id: at.event_id ?? null, position: at.position ?? null });
    if (this.#kept.length >= 2 * KEPT_MAX) this.#kept = this.first(KEPT_MAX);
  }

  leaveOpen(message: string): void {
    if (this.#undecided.size < KEPT_MAX) this.#undecided.add(message);
  }

  first(count: number): Problem[] {
    return this.#kept.toSorted((a, b) => placeOf(a) - placeOf(b)).slice(0, count);
  }
}

/** Returns the sort key. Unreadable lines come first, because they explain missing entries. */
function placeOf({ kind, position }: Problem): number {
  return kind === "unreadable" ? 0 : (position ?? Number.POSITIVE_INFINITY);
}
