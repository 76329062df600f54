import { decodeTime } from "ulid";
import {
  INTENT_SKEW_MS_MAX,
  type ProvenEvent,
  provenOrganizationEventSchema,
  provenUserEventSchema,
} from "../contracts/audit/index.ts";
import { fits } from "../domain/errors/index.ts";
import { isRecord } from "../domain/json/index.ts";
import {
  contentHash,
  eventEntryHash,
  hashFromHex,
  intentContent,
  monthOfTime,
  outcomeContent,
  ownerOf,
  proofTime,
} from "../domain/proof/index.ts";
import { isUlid } from "../domain/schemas/index.ts";
import type { ChainCheck } from "./chain-check.ts";
import type { Findings } from "./findings.ts";

/** The maximum number of events whose owner is remembered for each of the first owners in a file. */
const EVENTS_MAX = 1_000;
const OWNERS_MAX = 100;

/** Checks the events of an export line by line. An export lists events newest first. */
export class EventsCheck {
  readonly #findings: Findings;
  readonly #chain: ChainCheck;
  readonly #late = new LateEvents();
  readonly #ofOwner = new Map<string, { line: number; event_id: string }[]>();
  #isPersons: boolean | null = null;
  #lastId: string | null = null;
  events = 0;
  pending = 0;
  from: string | null = null;
  to: string | null = null;

  constructor(findings: Findings, chain: ChainCheck) {
    this.#findings = findings;
    this.#chain = chain;
  }

  add(value: unknown, line: number): void {
    this.#isPersons ??= isRecord(value) && "user_id" in value;
    const schema = this.#isPersons ? provenUserEventSchema : provenOrganizationEventSchema;
    const isEvent = fits<typeof schema>(schema, value) && isUlid(value.id);
    if (!isEvent || proofTime(value.occurred_at) === null) {
      this.#findings.add("line_unreadable", { line }, "an event with proof");
    } else this.#addEvent(value, line);
  }

  /** Finds the events of other owners. Only the last line of a file names the owner. */
  end(owner: string): void {
    for (const [found, events] of this.#ofOwner) {
      if (found === owner) continue;
      for (const place of events) this.#findings.add("other_owner", place, owner, found);
    }
  }

  #addEvent(event: ProvenEvent, line: number): void {
    const { id, occurred_at, proof, outcome } = event;
    const { position } = proof.intent;
    this.events += 1;
    if (outcome === "pending") this.pending += 1;
    if (this.from === null || occurred_at < this.from) this.from = occurred_at;
    if (this.to === null || occurred_at > this.to) this.to = occurred_at;
    if (this.#lastId !== null && id >= this.#lastId) {
      this.#findings.add("event_out_of_order", { line, event_id: id }, `an id below ${this.#lastId}`, id);
    }
    this.#lastId = id;
    this.#noteOwner(ownerOfEvent(event), { line, event_id: id });
    const skewMs = Math.abs(decodeTime(id) - (proofTime(occurred_at) ?? 0));
    if (skewMs > INTENT_SKEW_MS_MAX + CLOCKS_MS) {
      const written = new Date(decodeTime(id)).toISOString();
      this.#findings.add(
        "event_time_wrong",
        { line, event_id: id, position },
        `near ${written}`,
        occurred_at,
      );
    }
    if (this.#late.isLate(decodeTime(id), position)) {
      // An outcome is applied however late it comes, so a late event that its outcome put into this log can be honest.
      const joined = !this.#isPersons && proof.outcome?.intent_member_id !== undefined;
      this.#findings.add(joined ? "event_joined_late" : "event_late", { event_id: id, position });
    }
    this.#addEntries(event, line);
  }

  #addEntries(event: ProvenEvent, line: number): void {
    const { id: event_id, occurred_at, proof, outcome, status, details, created_id } = event;
    const { intent, outcome: sealed } = proof;
    const isPending = outcome === "pending";
    if (isPending !== (sealed === null) || (isPending && (status ?? details ?? created_id) !== null)) {
      this.#findings.add("event_inconsistent", { line, event_id, position: intent.position });
    }
    const month = monthOfTime(occurred_at);
    const named =
      sealed?.intent_member_id === undefined ? null : { intent_member_id: sealed.intent_member_id };
    const add = ({ position, chain }: { position: number; chain: string }, content: string) => {
      const hash = eventEntryHash(contentHash(content), month);
      this.#chain.add({ position, event_id, hash, chain: hashFromHex(chain) });
    };
    add(intent, intentContent(event, named, intent.salt));
    if (sealed !== null) add(sealed, outcomeContent(event, named, sealed.salt));
  }

  #noteOwner(owner: string, place: { line: number; event_id: string }): void {
    const events = this.#ofOwner.get(owner);
    if (events !== undefined) {
      if (events.length < EVENTS_MAX) events.push(place);
    } else if (this.#ofOwner.size < OWNERS_MAX) this.#ofOwner.set(owner, [place]);
  }
}

function ownerOfEvent(event: ProvenEvent): string {
  return "user_id" in event
    ? ownerOf("user", event.user_id ?? "")
    : ownerOf("organization", event.organization_id ?? "");
}

/**
 * The largest accepted difference between the time in an event's id and the times of its neighbours in the chain. An id
 * also differs from `occurred_at` by no more than this beyond the tolerance for intents (AU-10).
 */
const CLOCKS_MS = 60 * 60 * 1000;
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
