export const PARTS = ["audit", "identity", "gateway", "registry"] as const;
export type Part = (typeof PARTS)[number];

export interface Order {
  readonly name: string;
  readonly parts: readonly Part[];
  /** Whether the services are upgraded, not downgraded. */
  readonly isForward: boolean;
}

/** The order in the upgrade guide: a service is upgraded before the services that call it. */
const GUIDE: readonly Part[] = PARTS;
const OPPOSITE = GUIDE.toReversed();

/**
 * The orders of a whole run: first as in the upgrade guide, and then in the opposite order, which is the
 * worst.
 */
export const ORDERS: readonly Order[] = [
  { name: "forward, as the guide says", parts: GUIDE, isForward: true },
  { name: "back, as the guide says", parts: OPPOSITE, isForward: false },
  { name: "forward, in the worst order", parts: OPPOSITE, isForward: true },
  { name: "back, in the worst order", parts: GUIDE, isForward: false },
];

/** A part of a run: an upgrade or downgrade of all services, in some order. */
export interface Leg extends Order {
  /** The version that all services have afterwards. */
  readonly to: string;
}

/** Returns the legs of a whole run: upgrades to `to` and downgrades to `from`, in every order. */
export function wholeRun(from: string, to: string): readonly Leg[] {
  return ORDERS.map((order) => ({ ...order, to: order.isForward ? to : from }));
}
