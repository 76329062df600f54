/** The services that an upgrade replaces. */
export const PARTS = ["audit", "identity", "gateway", "registry"] as const;
export type Part = (typeof PARTS)[number];

/** One way to replace all services. */
export interface Order {
  readonly name: string;
  readonly parts: readonly Part[];
  /** Whether it leads to the newer version. */
  readonly isForward: boolean;
}

/** The order of the guide, from what is called to what calls. */
const GUIDE: readonly Part[] = PARTS;
const OPPOSITE = GUIDE.toReversed();

/** Forward and back as the guide says, then both in the opposite order, which is the worst. */
export const ORDERS: readonly Order[] = [
  { name: "forward, as the guide says", parts: GUIDE, isForward: true },
  { name: "back, as the guide says", parts: OPPOSITE, isForward: false },
  { name: "forward, in the worst order", parts: OPPOSITE, isForward: true },
  { name: "back, in the worst order", parts: GUIDE, isForward: false },
];

/** One order, and the version that it leads to. */
export interface Leg extends Order {
  readonly to: string;
}

/** Returns the legs of a whole run between two versions. */
export function wholeRun(from: string, to: string): readonly Leg[] {
  return ORDERS.map((order) => ({ ...order, to: order.isForward ? to : from }));
}

/**
 * Returns the legs of a short run: forward over all versions as the guide says, and one version back.
 * `versions` are in their order.
 */
export function shortRun(versions: readonly string[]): readonly Leg[] {
  const forward = versions.slice(1).map((to) => ({
    name: `forward to ${to}`,
    parts: GUIDE,
    isForward: true,
    to,
  }));
  const before = versions.at(-2);
  if (before === undefined) return forward;
  return [...forward, { name: `back to ${before}`, parts: OPPOSITE, isForward: false, to: before }];
}
