/** What can be broken. `gateway` and `registry` are one of two; every other part is broken whole. */
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

/** How it is broken: what is done is in `break.ts`. */
export const FAULTS = ["killed", "frozen", "cut", "black-holed", "slowed", "gone-silent"] as const;
export type Fault = (typeof FAULTS)[number];

/** One row of the table: one or two parts, broken in one way at the same time. */
export interface Cell {
  readonly parts: readonly Part[];
  readonly fault: Fault;
}

/** Two parts whose faults meet in one request, or in one way out. */
const PAIRS: readonly (readonly [Part, Part])[] = [
  ["redis", "identity"],
  ["postgres", "etcd"],
  ["audit", "gateway"],
  ["etcd", "registries"],
  ["identity", "audit"],
];
const FAULTS_OF_PAIRS: readonly Fault[] = ["killed", "black-holed"];

const ALONE = PARTS.filter((part) => part !== "registries");

/** Every cell, in the order of the table. */
export const CELLS: readonly Cell[] = [
  ...ALONE.flatMap((part) => FAULTS.map((fault) => ({ parts: [part], fault }))),
  ...PAIRS.flatMap((parts) => FAULTS_OF_PAIRS.map((fault) => ({ parts, fault }))),
];

/** One cell of each part, to see that all works. */
export const QUICK_CELLS: readonly Cell[] = ALONE.map((part, index) => ({
  parts: [part],
  fault: FAULTS[index % FAULTS.length] ?? "killed",
}));

/** Such as `redis+identity/killed`. */
export function nameOf({ parts, fault }: Cell): string {
  return `${parts.join("+")}/${fault}`;
}

/** The cells that `wanted` names: `redis/killed`, or all of `redis`, or all that are `/killed`. */
export function cellsNamed(wanted: string, cells: readonly Cell[] = CELLS): readonly Cell[] {
  return cells.filter((cell) => {
    const name = nameOf(cell);
    return (
      name === wanted || name.startsWith(`${wanted}/`) || (wanted.startsWith("/") && name.endsWith(wanted))
    );
  });
}

/** Whether nothing at all is to be had of the part. */
export function isAway({ fault }: Cell): boolean {
  return fault === "killed" || fault === "frozen" || fault === "cut" || fault === "black-holed";
}
