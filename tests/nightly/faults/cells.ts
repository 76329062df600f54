/**
 * The parts of the system into which faults are injected. `gateway` and `registry` stand for one of two
 * replicas. Every other part fails with all its processes.
 */
export const PARTS = [
  "postgres",
  "redis",
  "etcd",
  "identity",
  "audit",
  "upstream",
  "gateway",
  "registry",
  "registries",
] as const;
export type Part = (typeof PARTS)[number];

/** The faults for all parts. `inject-faults.ts` injects them. */
export const FAULTS = ["killed", "frozen", "cut", "black-holed", "slowed", "gone-silent"] as const;
/** The faults for parts whose clock can be set: the clock jumps by an hour. */
export const CLOCK_FAULTS = ["set-ahead", "set-back"] as const;
export type Fault = (typeof FAULTS)[number] | (typeof CLOCK_FAULTS)[number];

/** The parts whose clock can be set. For `audit`, it is the clock of one of two replicas. */
const PARTS_WITH_CLOCK: readonly Part[] = ["postgres", "audit"];

/** A combination to test: one fault, in one or two parts at the same time. It is a row of the results. */
export interface Cell {
  readonly parts: readonly Part[];
  readonly fault: Fault;
}

/** Pairs of parts that one request or one publication needs, so that simultaneous faults can interact. */
const PAIRS: readonly (readonly [Part, Part])[] = [
  ["redis", "identity"],
  ["postgres", "etcd"],
  ["audit", "gateway"],
  ["etcd", "registries"],
  ["identity", "audit"],
];
const FAULTS_OF_PAIRS: readonly Fault[] = ["killed", "black-holed"];

const ALONE = PARTS.filter((part) => part !== "registries");

export const CELLS: readonly Cell[] = [
  ...ALONE.flatMap((part) => FAULTS.map((fault) => ({ parts: [part], fault }))),
  ...PAIRS.flatMap((parts) => FAULTS_OF_PAIRS.map((fault) => ({ parts, fault }))),
  ...PARTS_WITH_CLOCK.flatMap((part) => CLOCK_FAULTS.map((fault) => ({ parts: [part], fault }))),
];

export function nameOf({ parts, fault }: Cell): string {
  return `${parts.join("+")}/${fault}`;
}

/**
 * Returns the cells that match `wanted`: a cell (`redis/killed`), a part (`redis`) or a fault (`/killed`).
 */
export function cellsNamed(wanted: string, cells: readonly Cell[] = CELLS): readonly Cell[] {
  return cells.filter((cell) => {
    const name = nameOf(cell);
    return (
      name === wanted || name.startsWith(`${wanted}/`) || (wanted.startsWith("/") && name.endsWith(wanted))
    );
  });
}

/** Returns whether the fault only sets a clock, so that the part keeps running. */
export function isOfClock({ fault }: Cell): boolean {
  return fault === "set-ahead" || fault === "set-back";
}

/** Returns whether the part sends no responses at all during the fault. */
export function isAway({ fault }: Cell): boolean {
  return fault === "killed" || fault === "frozen" || fault === "cut" || fault === "black-holed";
}
