export const PARTS = ["audit", "identity", "gateway", "registry"] as const;
export type Part = (typeof PARTS)[number];

interface Order {
  readonly name: string;
  readonly parts: readonly Part[];
  /** Whether the services are upgraded, not downgraded. */
  readonly isForward: boolean;
}

/** The order in the upgrade guide: a service is upgraded before the services that call it. */
const GUIDE: readonly Part[] = PARTS;
const OPPOSITE = GUIDE.toReversed();

/**
 * The orders of a run: first as in the upgrade guide, and then in the opposite order, which is the
 * worst.
 */
export const ORDERS: readonly Order[] = [
  { name: "forward, as the guide says", parts: GUIDE, isForward: true },
  { name: "back, as the guide says", parts: OPPOSITE, isForward: false },
  { name: "forward, in the worst order", parts: OPPOSITE, isForward: true },
  { name: "back, in the worst order", parts: GUIDE, isForward: false },
];
