import { type CourierDeps, deliverTurn } from "./courier.ts";
import { claimStreams, type DeliveryRow, renewLeases } from "./delivery-queries.ts";
import type { Lane, Streams } from "./dispatcher.ts";

/** The maximum number of streams that a replica delivers at once to receivers that answer fast. */
export const LANES = 32;
/** The maximum number of slow or failing streams that a replica delivers at once. */
export const SLOW_LANES = 16;

/** Returns the streams of organizations. Slow and failing receivers have lanes of their own, so they delay nobody else. */
export function organizationStreams(deps: CourierDeps): Streams<DeliveryRow> {
  const { writes } = deps;
  const lane = (is_slow: boolean, max: number): Lane<DeliveryRow> => ({
    max,
    claim: (lease, limit) => claimStreams(writes, lease, is_slow, limit),
  });
  const slow_lane = lane(true, SLOW_LANES);
  return {
    lanes: [lane(false, LANES), slow_lane],
    slow_lane,
    renew: (held) => renewLeases(writes, held),
    deliver: (row, turn) => deliverTurn(deps, row, turn),
  };
}
