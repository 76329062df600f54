import type { Problems } from "./problems.ts";

/** The maximum numbers of remembered owners and of events per owner, so that a broken file cannot exhaust memory. */
const OWNERS_MAX = 100;
const EVENTS_MAX = 1_000;

/** An event in a file, and its position in the chain. */
interface SeenEvent {
  event_id: string;
  position: number | null;
}

/**
 * Finds events of other logs. Remembers events until the end, because only the last line of a file names the
 * log's owner.
 */
export class OwnersCheck {
  readonly #problems: Problems;
  readonly #eventsOf = new Map<string, SeenEvent[]>();

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  add(owner: string, event: SeenEvent): void {
    const events = this.#eventsOf.get(owner);
    if (events !== undefined) {
      if (events.length < EVENTS_MAX) events.push(event);
    } else if (this.#eventsOf.size < OWNERS_MAX) this.#eventsOf.set(owner, [event]);
  }

  /** Reports each remembered event of another log, or a single problem if all events have the same wrong owner. */
  end(proofOwner: string): void {
    const [eventsOwner, ...others] = this.#eventsOf.keys();
    if (eventsOwner === undefined) return;
    if (others.length > 0) this.#nameOthers(proofOwner);
    else if (eventsOwner !== proofOwner) this.#problems.add({ code: "other_owner", eventsOwner, proofOwner });
  }

  #nameOthers(proofOwner: string): void {
    for (const [owner, events] of this.#eventsOf) {
      if (owner === proofOwner) continue;
      for (const { event_id, position } of events)
        this.#problems.add({ code: "event_of_other_log", event_id, owner }, { event_id, position });
    }
  }
}
