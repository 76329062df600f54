import {
  type ProofEnd,
  type ProvenEvent,
  provenOrganizationEventSchema,
  provenUserEventSchema,
} from "@ostiary/lib/contracts/audit";
import { fits } from "@ostiary/lib/domain/errors";
import { isRecord } from "@ostiary/lib/domain/json";
import {
  entryHash,
  hashFromHex,
  intentEntry,
  outcomeEntry,
  ownerOf,
  type WrittenByIntent,
} from "@ostiary/lib/domain/proof";
import { isUlid } from "@ostiary/lib/domain/schemas";
import { decodeTime } from "ulid";
import type { ChainCheck } from "./chain-check.ts";
import type { Faults } from "./faults.ts";

/** Clocks of replicas differ, by less than this: an event is not written so much later than its id says. */
const CLOCKS_MS = 60 * 60 * 1000;
/** Events of months that are kept may have entries among those of the last that was dropped, for so long. */
const MONTH_EDGE_MS = 24 * 60 * 60 * 1000;
const DAY_LENGTH = "2026-01-31".length;

/** The events of an export, line by line, the newest first. */
export class EventsCheck {
  readonly #faults: Faults;
  readonly #chain: ChainCheck;
  readonly #late = new LateEvents();
  #kind: "organization" | "user" | null = null;
  #owner: string | null = null;
  #lastId: string | null = null;
  /** The least place of the events of each day, `2026-01-31`. */
  readonly #leastOfDay = new Map<string, number>();
  events = 0;
  pending = 0;
  from: string | null = null;
  to: string | null = null;

  constructor(faults: Faults, chain: ChainCheck) {
    this.#faults = faults;
    this.#chain = chain;
  }

  add(value: unknown, line: number): void {
    this.#kind ??= isRecord(value) && "user_id" in value ? "user" : "organization";
    const schema = this.#kind === "user" ? provenUserEventSchema : provenOrganizationEventSchema;
    if (!fits<typeof schema>(schema, value) || !isUlid(value.id)) {
      this.#faults.add("unreadable", `Line ${line} is not an event with proof.`);
      return;
    }
    this.#addEvent(value);
  }

  /** The events are of this owner, and not older than what was dropped. */
  end({ head, dropped }: ProofEnd): void {
    if (this.#owner !== null && this.#owner !== head.owner) {
      this.#faults.add("checkpoint", `The events are of ${this.#owner}, the proof is of ${head.owner}.`);
    }
    if (dropped === null) return;
    const before_ms = Date.parse(dropped.occurred_before);
    if (this.from !== null && Date.parse(this.from) < before_ms) {
      this.#faults.add(
        "removed",
        `Events before ${dropped.occurred_before} are said to be dropped, and some are here.`,
      );
    }
    const edge = new Date(before_ms + MONTH_EDGE_MS).toISOString().slice(0, DAY_LENGTH);
    const kept = [...this.#leastOfDay].filter(([day]) => day >= edge).map(([, position]) => position);
    const least = Math.min(...kept);
    for (const { from, to } of dropped.ranges) {
      if (to < least) continue;
      const message = `The entries at places ${from} to ${to} are said to be of months that were dropped, but newer events come before them.`;
      this.#faults.add("removed", message, { position: from });
    }
  }

  #addEvent(event: ProvenEvent): void {
    const { id, occurred_at, proof, outcome } = event;
    this.events += 1;
    if (outcome === "pending") this.pending += 1;
    if (this.from === null || occurred_at < this.from) this.from = occurred_at;
    if (this.to === null || occurred_at > this.to) this.to = occurred_at;
    this.#checkOrder(id, proof.intent?.position ?? null);
    this.#checkOwner(event);
    const { intent } = proof;
    if (intent === null) {
      this.#faults.add("added", `Event ${id} has no place in the chain: it was added.`, { event_id: id });
      return;
    }
    this.#addEntries(event, intent);
    const day = occurred_at.slice(0, DAY_LENGTH);
    this.#leastOfDay.set(day, Math.min(intent.position, this.#leastOfDay.get(day) ?? intent.position));
    // what an outcome puts into a log comes there as late as the outcome
    if (intent.organization_id === undefined) this.#checkTime(id, intent.position);
  }

  #addEntries(event: ProvenEvent, intent: NonNullable<ProvenEvent["proof"]["intent"]>): void {
    const { id, outcome } = event;
    const written = writtenByIntent(intent);
    this.#chain.add({
      position: intent.position,
      event_id: id,
      half: "intent",
      hash: entryHash(intentEntry(event, written, intent.salt)),
      chain: hashFromHex(intent.chain),
    });
    const place = event.proof.outcome;
    if (place === null) {
      if (outcome === "pending") return;
      const message = `The outcome of event ${id} has no place in the chain: it was added or changed.`;
      this.#faults.add("added", message, { event_id: id, position: intent.position });
      return;
    }
    this.#chain.add({
      position: place.position,
      event_id: id,
      half: "outcome",
      hash: entryHash(outcomeEntry(event, written, place.salt)),
      chain: hashFromHex(place.chain),
    });
  }

  #checkOrder(id: string, position: number | null): void {
    const before = this.#lastId;
    this.#lastId = id;
    if (before === null || id < before) return;
    if (id === before) this.#faults.add("added", `Event ${id} is there twice.`, { event_id: id, position });
    else this.#faults.add("moved", `Event ${id} is not where its id belongs.`, { event_id: id, position });
  }

  #checkOwner(event: ProvenEvent): void {
    const owner =
      "user_id" in event
        ? ownerOf("user", event.user_id ?? "")
        : ownerOf("organization", event.organization_id ?? "");
    this.#owner ??= owner;
    if (owner === this.#owner) return;
    this.#faults.add("changed", `Event ${event.id} is of another log: of ${owner}.`, {
      event_id: event.id,
      position: event.proof.intent?.position,
    });
  }

  #checkTime(id: string, position: number): void {
    if (!this.#late.isLate(decodeTime(id), position)) return;
    const message = `Event ${id} was written after events that are newer by more than an hour: it was added later.`;
    this.#faults.add("added", message, { event_id: id, position });
  }
}

function writtenByIntent({
  organization_id,
  member_id,
}: {
  organization_id?: string | null;
  member_id?: string | null;
}): WrittenByIntent {
  if (organization_id === undefined && member_id === undefined) return null;
  return { organization_id: organization_id ?? null, member_id: member_id ?? null };
}

const SECOND_MS = 1_000;

/** Knows, of events that come newest first, the least place of those that are newer than another by more than an hour. */
class LateEvents {
  /** The least place in each second of the last hour, the newest first. */
  readonly #recent: { second: number; position: number }[] = [];
  #leastBefore = Number.POSITIVE_INFINITY;

  isLate(time_ms: number, position: number): boolean {
    const second = Math.floor(time_ms / SECOND_MS);
    let passed = 0;
    for (const newer of this.#recent) {
      if ((newer.second - second) * SECOND_MS <= CLOCKS_MS) break;
      this.#leastBefore = Math.min(this.#leastBefore, newer.position);
      passed += 1;
    }
    if (passed > 0) this.#recent.splice(0, passed);
    const last = this.#recent.at(-1);
    if (last?.second === second) last.position = Math.min(last.position, position);
    else this.#recent.push({ second, position });
    return position > this.#leastBefore;
  }
}
