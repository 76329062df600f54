import { KINDS, type ProblemFinding, type ProblemKind, type Question } from "./finding-codes.ts";

export interface Problem {
  kind: ProblemKind;
  finding: ProblemFinding;
  /** The event with the problem, or the event next to the problem. */
  event_id: string | null;
  /** The position in the chain. Problems without a position come last. */
  position: number | null;
}

/**
 * The maximum number of problems to keep, lowest positions first, so that a broken file does not exhaust
 * memory.
 */
const KEPT_MAX = 1_000;

/** The problems of a verification, in the order of the chain, and the questions that stay open. */
export class Problems {
  #kept: Problem[] = [];
  #count = 0;
  readonly #undecided = new Map<string, Question>();

  get count(): number {
    return this.#count;
  }

  /** The questions that the files leave open, without duplicates. */
  get undecided(): Question[] {
    return [...this.#undecided.values()];
  }

  add(finding: ProblemFinding, at: { event_id?: string | null; position?: number | null } = {}): void {
    this.#count += 1;
    const { event_id = null, position = null } = at;
    this.#kept.push({ kind: KINDS[finding.code], finding, event_id, position });
    if (this.#kept.length >= 2 * KEPT_MAX) this.#kept = this.first(KEPT_MAX);
  }

  leaveOpen(question: Question): void {
    if (this.#undecided.size < KEPT_MAX) this.#undecided.set(JSON.stringify(question), question);
  }

  first(count: number): Problem[] {
    return this.#kept.toSorted((a, b) => placeOf(a) - placeOf(b)).slice(0, count);
  }
}

/** Returns the sort key. Unreadable lines and a proof of another log come first, because they explain other problems. */
function placeOf({ kind, finding, position }: Problem): number {
  const isCause = kind === "unreadable" || finding.code === "other_owner";
  return isCause ? 0 : (position ?? Number.POSITIVE_INFINITY);
}
