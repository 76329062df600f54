import { batchOf, OPERATOR_STREAM } from "../batch.ts";
import { type DeliveryDeps, deliverTurn, type LeasedCursor } from "../delivery.ts";
import type { Streams } from "../dispatcher.ts";
import { OPERATOR_STREAMS, releaseLease, renewLeases } from "../lease-sql.ts";
import type { OperatorStreamSettings } from "./config.ts";
import {
  advanceOperatorStream,
  type ChainPart,
  claimOperatorStream,
  failOperatorStream,
  type OperatorRow,
  openOperatorStream,
  type StreamPosition,
  selectNextParts,
} from "./operator-stream-sql.ts";

interface OperatorStreamDeps extends DeliveryDeps {
  settings: OperatorStreamSettings;
}

/** The time for which a replica leaves the stream to others after a call to a URL that one of them has replaced. */
const YIELD_MS = 3_000;

/** Returns the stream that delivers the entries of all organizations to the operator's receiver (AU-110). */
export function operatorStream(deps: OperatorStreamDeps): Streams<OperatorRow> {
  const { writes, settings, clock } = deps;
  let isOpen = false;
  let notBeforeMs = 0;
  const yieldStream = () => {
    notBeforeMs = clock.elapsedMs() + YIELD_MS;
  };
  const lane = {
    max: 1,
    async claim(lease: string) {
      if (!isOpen) {
        const { url, from } = settings;
        await writes.transaction("open_operator_stream", (tx) => openOperatorStream(tx, url, from));
      }
      isOpen = true;
      if (clock.elapsedMs() < notBeforeMs) return [];
      return claimOperatorStream(writes, lease);
    },
  };
  return {
    lanes: [lane],
    renew: (held) => renewLeases(writes, OPERATOR_STREAMS, held),
    deliver: (row, turn) => deliverTurn(deps, operatorCursor(deps, row, turn.lease, yieldStream), turn),
  };
}

/** @param yieldStream lets other replicas deliver first, because one of them has replaced the URL */
function operatorCursor(
  deps: OperatorStreamDeps,
  row: OperatorRow,
  lease: string,
  yieldStream: () => void,
): LeasedCursor {
  const { reads, writes, settings, clock, log } = deps;
  let stream = row;
  const advance = (position: StreamPosition, parts: readonly ChainPart[], isDelivered: boolean) => {
    stream = { ...stream, ...position, ...(isDelivered && { failures: 0, failing_ms: 0 }) };
    const delivered = parts.flatMap(({ chain_id, entries }) => {
      const last = entries.at(-1);
      return last === undefined ? [] : [{ chain_id, position: last.position, chain: last.chain }];
    });
    return advanceOperatorStream(writes, lease, position, delivered, isDelivered);
  };
  return {
    url: settings.url,
    failures: () => stream,
    secrets: () => settings.secrets,
    async next() {
      const found = await selectNextParts(reads, stream);
      for (const { organization_id } of found.filter(({ isStuck }) => isStuck)) {
        log.error(
          { organization_id },
          "the operator's stream leaves an organization out: an entry is missing from its log",
        );
      }
      if (found.length === 0) return null;
      const { body, parts } = batchOf({ id: OPERATOR_STREAM, format: settings.format }, found, clock.now());
      const count = parts.reduce((sum, { entries }) => sum + entries.length, 0);
      return {
        messageId: messageIdOf(parts, count),
        body: parts.length === 0 ? null : body,
        count,
        advance: (callMs) => advance(positionAfter(stream, found, count), parts, callMs !== null),
      };
    },
    /** Never pauses the stream for good, because only the operator could resume it. */
    async fail(error, plan) {
      if (plan.failures === 1)
        log.warn({ reason: error }, "the receiver of the operator's stream refused a call");
      if (!(await failOperatorStream(writes, { lease, url: settings.url }, error, plan))) yieldStream();
    },
    release: () => releaseLease(writes, OPERATOR_STREAMS, { id: OPERATOR_STREAM, lease }),
  };
}

/** Returns the id of the message. Batches with the same entries have the same id (AU-103). */
function messageIdOf(parts: readonly ChainPart[], count: number): string {
  const [first, last] = [parts.at(0), parts.at(-1)];
  const begin = `${first?.chain_id}.${first?.entries.at(0)?.position}`;
  const end = `${last?.chain_id}.${last?.entries.at(-1)?.position}`;
  return `${OPERATOR_STREAM}-${begin}-${end}-${count}`;
}

/** Returns the position after the last part that the first `count` entries deliver in full. */
function positionAfter(from: StreamPosition, parts: readonly ChainPart[], count: number): StreamPosition {
  let position = from;
  let left = count;
  for (const { entries, isWhole, leaf, chain_id } of parts) {
    left -= entries.length;
    if (left < 0 || !isWhole) break;
    position = { leaf, chain_id };
  }
  return { leaf: position.leaf, chain_id: position.chain_id };
}
