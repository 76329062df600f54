import type { DeliveryDeps } from "../delivery-turn.ts";
import type { Streams, Turn } from "../dispatcher.ts";
import { OPERATOR_STREAMS, releaseLease, renewLeases } from "../lease-sql.ts";
import { planRetry } from "../retry.ts";
import { type Refusal, Sender, type Sent } from "../sender.ts";
import { type OperatorBatch, operatorBatch, operatorMessageId } from "./batch.ts";
import type { OperatorStreamSettings } from "./config.ts";
import {
  advanceOperatorStream,
  type Cursor,
  claimOperatorStream,
  failOperatorStream,
  type NextParts,
  type OperatorRow,
  openOperatorStream,
  selectNextParts,
} from "./sql.ts";

interface OperatorStreamDeps extends Omit<DeliveryDeps, "secrets"> {
  settings: OperatorStreamSettings;
}

/** Returns the stream that delivers the entries of all organizations to the operator's receiver (AU-110). */
export function operatorStream(deps: OperatorStreamDeps): Streams<OperatorRow> {
  const { writes, settings } = deps;
  let isOpen = false;
  const lane = {
    max: 1,
    kept: 0,
    async claim(lease: string) {
      if (!isOpen) await openOperatorStream(writes, settings.url, settings.from);
      isOpen = true;
      return claimOperatorStream(writes, lease);
    },
  };
  return {
    lanes: [lane],
    slowLane: lane,
    renew: (held) => renewLeases(writes, OPERATOR_STREAMS, held),
    deliver: (row, turn) => deliverOperatorTurn(deps, row, turn),
  };
}

/**
 * Delivers the operator's stream for one turn, and then releases the turn's lease. Sends each batch only after the
 * receiver has accepted the previous one.
 */
async function deliverOperatorTurn(deps: OperatorStreamDeps, row: OperatorRow, turn: Turn): Promise<void> {
  const delivery = new OperatorDelivery(deps, row, turn);
  try {
    while (!turn.signal.aborted && (await delivery.deliverNext())) {
      if (turn.isOver()) break;
    }
    await releaseLease(deps.writes, OPERATOR_STREAMS, { id: row.id, lease: turn.lease });
  } finally {
    delivery.close();
  }
}

class OperatorDelivery {
  readonly #deps: OperatorStreamDeps;
  readonly #turn: Turn;
  readonly #sender: Sender;
  #cursor: Cursor;
  #failures: Pick<OperatorRow, "failures" | "failing_ms">;

  constructor(deps: OperatorStreamDeps, row: OperatorRow, turn: Turn) {
    this.#deps = deps;
    this.#turn = turn;
    this.#sender = new Sender(deps, deps.settings.url);
    this.#cursor = row;
    this.#failures = row;
  }

  close(): void {
    this.#sender.close();
  }

  /** Delivers one batch. Returns whether more may follow in this turn. */
  async deliverNext(): Promise<boolean> {
    const { reads, settings, clock, log, metrics } = this.#deps;
    const next = await selectNextParts(reads, this.#cursor);
    for (const organization_id of next.stuck) {
      log.error(
        { organization_id },
        "the operator's stream leaves an organization out: an entry is missing from its log",
      );
    }
    if (next.parts.length === 0) return next.end !== null && this.#advance(next.end, null);
    const batch = operatorBatch(settings.format, next.parts, clock.now());
    const place = placeBehind(this.#cursor, next, batch);
    if (batch.body === null) return this.#advance(place, batch);
    const sent = await this.#send(batch.body, batch);
    if (sent.outcome === "aborted") return false;
    if (sent.outcome === "refused") {
      await this.#fail(sent);
      return false;
    }
    metrics.delivered(batch.parts.reduce((sum, { entries }) => sum + entries.length, 0));
    return this.#advance(place, batch);
  }

  #send(body: Buffer, { parts }: OperatorBatch): Promise<Sent> {
    const message = { id: operatorMessageId(parts), body };
    return this.#sender.send(message, this.#deps.settings.secrets, this.#turn.signal);
  }

  async #advance(place: Cursor, delivered: OperatorBatch | null): Promise<boolean> {
    const places = (delivered?.parts ?? []).flatMap(({ chain_id, entries }) => {
      const last = entries.at(-1);
      return last === undefined ? [] : [{ chain_id, position: last.position, chain: last.chain }];
    });
    const isAccepted = delivered !== null && delivered.body !== null;
    if (isAccepted) this.#failures = { failures: 0, failing_ms: 0 };
    this.#cursor = place;
    return advanceOperatorStream(this.#deps.writes, this.#turn.lease, place, places, isAccepted);
  }

  /** Records a failed delivery request. Never pauses the stream for good, because only the operator could resume it. */
  async #fail(refusal: Refusal): Promise<void> {
    const { writes, log } = this.#deps;
    if (this.#failures.failures === 0) {
      log.warn({ reason: refusal.error }, "the receiver of the operator's stream refused a call");
    }
    const plan = planRetry(this.#failures, refusal);
    await failOperatorStream(writes, this.#turn.lease, refusal.error, plan);
  }
}

/** Returns the cursor after the last chain whose entries the batch delivers in full. */
function placeBehind(from: Cursor, { behind, parts, end }: NextParts, batch: OperatorBatch): Cursor {
  const isAll =
    batch.parts.length === parts.length &&
    batch.parts.at(-1)?.entries.length === parts.at(-1)?.entries.length;
  if (isAll) return end ?? from;
  const cut = batch.parts.length - 1;
  const isCutWhole = batch.parts[cut]?.entries.length === parts[cut]?.entries.length;
  const last = parts[isCutWhole ? cut : cut - 1];
  return (last === undefined ? undefined : behind.get(last.chain_id)) ?? from;
}
