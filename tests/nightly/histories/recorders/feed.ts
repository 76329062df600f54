import { waitFor } from "../../../support/time/wait-for.ts";
import { check, type Verdict } from "../checker/check.ts";
import { History, NeverSent } from "../checker/history.ts";
import { type FeedAnswer, type FeedCall, type FeedEvent, feedOf } from "../models/feed.ts";
import { type Asked, listIn, memberOf, textIn, unexpected } from "./asking.ts";
import type { Directory } from "./directory.ts";
import { newName } from "./names.ts";
import { type Field, type Recorder, together } from "./recorder.ts";

const WRITERS = 4;
const READERS = 2;
const STEPS = 6;
const PAGE = 7;
const PAGE_MAX = 500;
const COMPLETE_MS = 60_000;

/**
 * Records the calls of clients that create organizations, and of readers that follow the lifecycle feed page
 * by page.
 */
export class FeedRecorder implements Recorder {
  readonly name = feedOf([]).name;
  /** The id of the last event in the previous history; null before the first history. */
  #begin: string | null = null;

  async record(field: Field): Promise<Verdict[]> {
    const { directory } = field;
    const begin = (await eventsSince(directory, this.#begin)).at(-1)?.id ?? this.#begin;
    const user_id = await directory.person();
    const work = new FeedWork(field, user_id, begin);
    await Promise.all([
      together(WRITERS, STEPS, () => work.append()),
      together(READERS, STEPS, (reader) => work.read(reader)),
    ]);
    const missing = () => work.appended().filter((name) => !events.some((event) => event.name === name));
    let events = await eventsSince(directory, begin);
    await waitFor(
      async () => {
        events = await eventsSince(directory, begin);
        return missing().length === 0;
      },
      { timeoutMs: COMPLETE_MS },
    ).catch(() => {}); // The model reports missing events.
    await together(READERS, STEPS, (reader) => work.read(reader));
    events = await eventsSince(directory, begin);
    this.#begin = events.at(-1)?.id ?? begin;
    return check(feedOf(work.own(events)), work.operationsAfter(begin));
  }
}

class FeedWork {
  readonly #history = new History<FeedCall, FeedAnswer>();
  readonly #field: Field;
  readonly #user_id: string;
  /** The id of the last event that each reader has read. */
  readonly #cursors: (string | null)[];

  constructor(field: Field, user_id: string, begin: string | null) {
    this.#field = field;
    this.#user_id = user_id;
    this.#cursors = Array.from({ length: READERS }, () => begin);
  }

  append(): Promise<unknown> {
    const name = newName("feed");
    const asked: Asked = { method: "POST", path: `/users/${this.#user_id}/organizations`, body: { name } };
    return this.#history.record({ kind: "append", name }, async () => {
      const answered = await this.#field.directory.ask(asked);
      if (answered === null) return null;
      return answered.status === 201 ? { kind: "appended" } : unexpected(asked, answered);
    });
  }

  async read(reader: number): Promise<unknown> {
    const after = this.#cursors[reader] ?? null;
    return this.#history.record({ kind: "read", after }, async () => {
      const page = await pageAfter(this.#field.directory, after, PAGE);
      if (page === null) return null;
      const ids = page.map(({ id }) => id);
      this.#cursors[reader] = ids.at(-1) ?? after;
      // The faulty client omits the first event of each page.
      return { kind: "read", ids: this.#field.isFaulty ? ids.slice(1) : ids };
    });
  }

  /** Returns the names of the organizations whose creation got a response. */
  appended(): string[] {
    return this.#history.operations.flatMap(({ call, answer }) =>
      call.kind === "append" && answer !== null ? [call.name] : [],
    );
  }

  /** Returns the events, with `name` set to null if this history did not create the organization. */
  own(events: readonly FeedEvent[]): FeedEvent[] {
    const names = new Set(
      this.#history.operations.flatMap(({ call }) => (call.kind === "append" ? [call.name] : [])),
    );
    return events.map(({ id, name }) => ({ id, name: name !== null && names.has(name) ? name : null }));
  }

  /** Returns the operations. In reads of the page after `begin`, `after` is null, as the model expects. */
  operationsAfter(begin: string | null) {
    return this.#history.operations.map((operation) => {
      const { call } = operation;
      return call.kind === "read" && call.after === begin
        ? { ...operation, call: { ...call, after: null } }
        : operation;
    });
  }
}

/** Reads all events of the feed after an event. */
async function eventsSince(directory: Directory, after: string | null): Promise<FeedEvent[]> {
  const events: FeedEvent[] = [];
  for (let page: FeedEvent[] | null = null; page === null || page.length > 0; ) {
    page = await pageAfter(directory, events.at(-1)?.id ?? after, PAGE_MAX).catch(nullWhereNeverSent);
    events.push(...(page ?? []));
  }
  return events;
}

function nullWhereNeverSent(error: unknown): null {
  if (error instanceof NeverSent) return null;
  throw error;
}

async function pageAfter(
  directory: Directory,
  after: string | null,
  limit: number,
): Promise<FeedEvent[] | null> {
  const cursor = after === null ? "" : `&starting_after=${after}`;
  const path = `/internal/lifecycle-events?limit=${limit}${cursor}`;
  const asked: Asked = { method: "GET", path, port: "internal" };
  const answered = await directory.ask(asked);
  if (answered === null) return null;
  if (answered.status !== 200) return unexpected(asked, answered);
  return listIn(answered.body, "lifecycle_events").map((event) => ({
    id: textIn(event, "id"),
    name: memberOf(event, "type") === "organization.created" ? textIn(event, "data", "name") : null,
  }));
}
