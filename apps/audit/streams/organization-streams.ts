import { claimStreams, type DeliveryRow, type ReceiverRecord } from "./delivery-sql.ts";
import { type DeliveryDeps, deliverTurn } from "./delivery-turn.ts";
import type { Lane, Streams } from "./dispatcher.ts";
import { renewLeases, STREAMS } from "./lease-sql.ts";

/** The maximum number of streams that a replica delivers at once to receivers that answer fast. */
const LANES = 32;
/** The maximum number of new streams, whose receivers have accepted nothing yet, that a replica delivers at once. */
const NEW_LANES = 16;
/** The maximum number of slow or failing streams that a replica delivers at once. */
const SLOW_LANES = 16;

/**
 * Returns the streams of organizations. Receivers that answered fast have reserved slots, so receivers that are slow,
 * fail or are new cannot delay them (AU-117).
 */
export function organizationStreams(deps: DeliveryDeps): Streams<DeliveryRow> {
  const { writes } = deps;
  const lane = (record: ReceiverRecord, max: number, kept = 0): Lane<DeliveryRow> => ({
    max,
    kept,
    claim: (lease, limit) => claimStreams(writes, lease, record, limit),
  });
  const slowLane = lane("slow", SLOW_LANES);
  return {
    lanes: [lane("fast", LANES, LANES), lane("unknown", NEW_LANES), slowLane],
    slowLane,
    renew: (held) => renewLeases(writes, STREAMS, held),
    deliver: (row, turn) => deliverTurn(deps, row, turn),
  };
}
