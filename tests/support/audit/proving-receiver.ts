import {
  contentHash,
  eventEntryHash,
  hashFromHex,
  hexOf,
  intentContent,
  type LoggedEvent,
  monthOfTime,
  nextInChain,
  outcomeContent,
} from "@ostiary/lib/domain/proof";

/** The body of a delivery in the format `ostiary`. */
export interface DeliveredBody {
  type: string;
  timestamp: string;
  data: {
    stream_id: string;
    organization_id: string;
    after: { position: number; chain: string };
    entries: DeliveredEntry[];
  };
}

/** The fields of an entry that tests read. */
export interface DeliveredEntry {
  position: number;
  kind: string;
  salt: string;
  chain: string;
  named_by_outcome?: boolean;
  event: LoggedEvent;
  restart?: { from: number; declared_at: string };
}

/** A receiver that verifies the chain: it counts repeated entries, and throws for a gap or a wrong hash. */
export class ProvingReceiver {
  position: number;
  chain: string;
  readonly entries: DeliveredEntry[] = [];
  duplicates = 0;

  constructor(after: { position: number; chain: string }) {
    this.position = after.position;
    this.chain = after.chain;
  }

  take({ data }: { data: Pick<DeliveredBody["data"], "after" | "entries"> }): void {
    if (data.after.position > this.position) throw new Error(`Entries after ${this.position} are missing.`);
    if (data.after.position === this.position && data.after.chain !== this.chain)
      throw new Error(
        `The chain hash of entry ${this.position} differs from the hash that was received before.`,
      );
    let [position, chain] = [data.after.position, data.after.chain];
    for (const entry of data.entries) {
      if (entry.position !== position + 1) throw new Error(`Entry ${position + 1} is missing.`);
      const hash = eventEntryHash(contentHash(contentOf(entry)), monthOfTime(entry.event.occurred_at));
      const computed = hexOf(nextInChain(hashFromHex(chain), hash));
      if (computed !== entry.chain) throw new Error(`Entry ${entry.position} is not what was sealed.`);
      [position, chain] = [entry.position, entry.chain];
      if (entry.position <= this.position) {
        this.duplicates += 1;
        continue;
      }
      if (entry.position === this.position + 1) this.entries.push(entry);
      [this.position, this.chain] = [position, chain];
    }
  }
}

function contentOf({ kind, event, salt, named_by_outcome }: DeliveredEntry): string {
  const named = named_by_outcome ? { intent_member_id: null } : null;
  return kind === "intent" ? intentContent(event, null, salt) : outcomeContent(event, named, salt);
}

export const START = { position: 0, chain: "00".repeat(32) };
