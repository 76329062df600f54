import { decodeTime } from "ulid";
import {
  type ProofEnd,
  type ProvenEvent,
  provenOrganizationEventSchema,
  provenUserEventSchema,
} from "../contracts/audit/index.ts";
import { fits } from "../domain/errors/index.ts";
import { isRecord } from "../domain/json/index.ts";
import {
  entryHash,
  hashFromHex,
  intentEntry,
  outcomeEntry,
  ownerOf,
  type WrittenByIntent,
} from "../domain/proof/index.ts";
import { isUlid } from "../domain/schemas/index.ts";
import type { ChainCheck } from "./chain-check.ts";
import { OwnersCheck } from "./owners-check.ts";
import type { Problems } from "./problems.ts";

/**
 * The largest accepted difference between the clocks of replicas. It is also the longest accepted time between the
 * time in an event's id and the storing of the event.
 */
const CLOCKS_MS = 60 * 60 * 1000;
const DAY_LENGTH = "2026-01-31".length;

/** Checks the events of an export line by line. An export lists events newest first. */
export class EventsCheck {
  readonly #problems: Problems;
  readonly #chain: ChainCheck;
  readonly #owners: OwnersCheck;
  readonly #late = new LateEvents();
  #kind: "organization" | "user" | null = null;
  #lastId: string | null = null;
  /** The lowest position among the events of each day, such as `2026-01-31`. */
  readonly #leastOfDay = new Map<string, number>();
  events = 0;
  pending = 0;
  from: string | null = null;
  to: string | null = null;

  constructor(problems: Problems, chain: ChainCheck) {
    this.#problems = problems;
    this.#chain = chain;
    this.#owners = new OwnersCheck(problems);
  }

  add(value: unknown, line: number): void {
    this.#kind ??= isRecord(value) && "user_id" in value ? "user" : "organization";
    const schema = this.#kind === "user" ? provenUserEventSchema : provenOrganizationEventSchema;
    if (!fits<typeof schema>(schema, value) || !isUlid(value.id)) {
      this.#problems.add({ code: "not_an_event", line });
      return;
    }
    this.#addEvent(value);
  }

  /** Checks that the events belong to the owner of the head. */
  end({ head }: ProofEnd): void {
    this.#owners.end(head.owner);
  }

  /**
   * Returns the lowest position among the events of the day of `timeMs` and of later days, or infinity if
   * there are none.
   */
  leastPlaceFrom(timeMs: number): number {
    const from = new Date(timeMs).toISOString().slice(0, DAY_LENGTH);
    let least = Number.POSITIVE_INFINITY;
    for (const [day, position] of this.#leastOfDay) if (day >= from) least = Math.min(least, position);
    return least;
  }

  #addEvent(event: ProvenEvent): void {
    const { id, occurred_at, proof, outcome } = event;
    this.events += 1;
    if (outcome === "pending") this.pending += 1;
    if (this.from === null || occurred_at < this.from) this.from = occurred_at;
    if (this.to === null || occurred_at > this.to) this.to = occurred_at;
    this.#checkOrder(id, proof.intent?.position ?? null);
    this.#owners.add(ownerOfEvent(event), { event_id: id, position: proof.intent?.position ?? null });
    const { intent } = proof;
    if (intent === null) {
      this.#problems.add({ code: "event_without_place", event_id: id }, { event_id: id });
      return;
    }
    this.#addEntries(event, intent);
    const day = occurred_at.slice(0, DAY_LENGTH);
    this.#leastOfDay.set(day, Math.min(intent.position, this.#leastOfDay.get(day) ?? intent.position));
    // An event that enters this log only with its outcome can have a later position, so its time is not checked.
    if (intent.organization_id === undefined) this.#checkTime(id, intent.position);
  }

  #addEntries(event: ProvenEvent, intent: NonNullable<ProvenEvent["proof"]["intent"]>): void {
    const { id, outcome } = event;
    const written = writtenByIntent(intent);
    this.#chain.add({
      position: intent.position,
      event_id: id,
      named: { entry: "intent", event_id: id },
      hash: entryHash(intentEntry(event, written, intent.salt)),
      chain: hashFromHex(intent.chain),
    });
    const place = event.proof.outcome;
    if (place === null) {
      if (outcome === "pending") return;
      this.#problems.add(
        { code: "outcome_without_place", event_id: id },
        { event_id: id, position: intent.position },
      );
      return;
    }
    this.#chain.add({
      position: place.position,
      event_id: id,
      named: { entry: "outcome", event_id: id },
      hash: entryHash(outcomeEntry(event, written, place.salt)),
      chain: hashFromHex(place.chain),
    });
  }

  #checkOrder(id: string, position: number | null): void {
    const before = this.#lastId;
    this.#lastId = id;
    if (before === null || id < before) return;
    const code = id === before ? "event_twice" : "event_out_of_order";
    this.#problems.add({ code, event_id: id }, { event_id: id, position });
  }

  #checkTime(id: string, position: number): void {
    if (!this.#late.isLate(decodeTime(id), position)) return;
    this.#problems.add({ code: "event_added_late", event_id: id }, { event_id: id, position });
  }
}

function ownerOfEvent(event: ProvenEvent): string {
  return "user_id" in event
    ? ownerOf("user", event.user_id ?? "")
    : ownerOf("organization", event.organization_id ?? "");
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

/**
 * Finds events with a higher position than an event that is more than an hour newer. Events must be added
 * newest first.
 */
class LateEvents {
  /** The lowest position in each second of the hour after the current event, newest first. */
  readonly #recent: { second: number; position: number }[] = [];
  #leastBefore = Number.POSITIVE_INFINITY;

  isLate(timeMs: number, position: number): boolean {
    const second = Math.floor(timeMs / SECOND_MS);
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
