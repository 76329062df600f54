import type { Random } from "../../../support/random.ts";
import {
  AS_OPERATOR,
  type Asked,
  askSurely,
  insist,
  listIn,
  memberOf,
  numberIn,
  type ServiceResponse,
  textIn,
  unexpected,
} from "../../faults/system/asking.ts";
import { newName } from "../../faults/system/directory.ts";
import { check, type Verdict } from "../checker/check.ts";
import { History, settled } from "../checker/history.ts";
import { type RevisionCall, type RevisionOutcome, revisions } from "../models/revisions.ts";
import { type Field, type Recorder, together } from "./recorder.ts";

const CLIENTS = 4;
const STEPS = 7;

/**
 * Records the calls of clients that write, restore, delete and read one service. Most writes have `If-Match`.
 */
export const recordRevisions: Recorder = {
  name: revisions.name,
  async record(field): Promise<Verdict[]> {
    const work = new ServiceWork(field, newName("revisions"));
    await together(CLIENTS, STEPS, () => work.step());
    // Write twice with the same `If-Match`, so the second write must be refused.
    const ifMatch = await work.current();
    for (const _ of [1, 2]) await work.put(ifMatch);
    return check(revisions, await work.settled());
  },
};

class ServiceWork {
  readonly #field: Field;
  readonly #service: string;
  readonly #history = new History<RevisionCall, RevisionOutcome>();
  /** The revision in the last response of the registry; null before the first one. */
  #seen: number | null = null;
  readonly #puts: number[] = [];
  #values = 0;

  constructor(field: Field, service: string) {
    this.#field = field;
    this.#service = service;
  }

  step(): Promise<unknown> {
    const ifMatch = this.#random.chance(75) ? this.#seen : null;
    const chance = this.#random.below(100);
    const restored = this.#puts[this.#random.below(this.#puts.length + 1)];
    if (chance < 20) return this.#read();
    if (chance < 32) return this.#write({ kind: "delete", ...this.#head(ifMatch) });
    if (chance < 50 && restored !== undefined) {
      return this.#write({ kind: "restore", revision: restored, ...this.#head(ifMatch) });
    }
    return this.put(ifMatch);
  }

  put(ifMatch: number | null): Promise<unknown> {
    return this.#write({ kind: "put", value: `/values/${++this.#values}`, ...this.#head(ifMatch) });
  }

  /** Returns the current revision, which is the length of the list of revisions. */
  async current(): Promise<number> {
    return (await this.#writes()).size;
  }

  /** Returns the operations, with missing outcomes of writes filled in from the list of revisions. */
  async settled() {
    const writes = await this.#writes();
    return settled(this.#history.operations, (call): RevisionOutcome | null | undefined => {
      if (call.kind === "read") return undefined;
      const revision = writes.get(call.request_id);
      return revision === undefined ? null : { kind: "written", revision };
    });
  }

  get #random(): Random {
    return this.#field.random;
  }

  #head(ifMatch: number | null) {
    return { service: this.#service, request_id: crypto.randomUUID(), ifMatch };
  }

  /** Returns the revisions, by the `X-Request-ID` of the write. Empty if the service never existed. */
  async #writes(): Promise<ReadonlyMap<string, number>> {
    const asked: Asked = {
      method: "GET",
      path: `/services/${this.#service}/revisions`,
      headers: AS_OPERATOR,
    };
    const { status, body } = await insist(this.#field.system.registries, this.#random, asked, 404);
    const revisions = status === 404 ? [] : listIn(body, "revisions");
    return new Map(revisions.map((each) => [textIn(each, "request_id"), numberIn(each, "revision")]));
  }

  #read(): Promise<unknown> {
    const asked: Asked = { method: "GET", path: `/services/${this.#service}`, headers: AS_OPERATOR };
    return this.#record({ kind: "read", service: this.#service }, asked, ({ body }) => ({
      kind: "read",
      revision: numberIn(body, "revision"),
      value: textIn(body, "public", "routes", 0, "upstream"),
    }));
  }

  async #write(call: Exclude<RevisionCall, { kind: "read" }>): Promise<void> {
    const { kind, service, request_id, ifMatch } = call;
    // The faulty client omits the `If-Match` header.
    const isConditional = ifMatch !== null && !this.#field.isFaulty;
    const condition: Record<string, string> = isConditional ? { "if-match": `"${ifMatch}"` } : {};
    const headers = { ...AS_OPERATOR, "x-request-id": request_id, ...condition };
    const path = `/services/${service}`;
    const asked: Asked =
      kind === "put"
        ? { method: "PUT", path, headers, body: valueService(service, call.value) }
        : kind === "delete"
          ? { method: "DELETE", path, headers }
          : { method: "POST", path: `${path}/revisions/${call.revision}/restore`, headers };
    const outcome = await this.#record(call, asked, ({ body }) => ({
      kind: "written",
      revision: kind === "delete" ? null : numberIn(body, "revision"),
    }));
    if (kind === "put" && outcome?.kind === "written" && outcome.revision !== null)
      this.#puts.push(outcome.revision);
  }

  async #record(
    call: RevisionCall,
    asked: Asked,
    succeeded: (response: ServiceResponse) => RevisionOutcome,
  ): Promise<RevisionOutcome | null> {
    const outcome = await this.#history.record(call, async () => {
      const response = await askSurely(this.#field.system.registries, this.#random, asked);
      if (response === null) return null;
      const { status, body } = response;
      if (status < 300) return succeeded(response);
      if (status === 404) return { kind: "missing" };
      if (status !== 412) return unexpected(asked, response);
      const current = memberOf(body, "error", "details", "current_revision");
      return { kind: "refused", current: typeof current === "number" ? current : null };
    });
    this.#see(outcome);
    return outcome;
  }

  #see(outcome: RevisionOutcome | null): void {
    if (outcome === null || outcome.kind === "missing") return;
    this.#seen = (outcome.kind === "refused" ? outcome.current : outcome.revision) ?? this.#seen;
  }
}

function valueService(service: string, value: string) {
  const route = { path: `/histories/${service}`, upstream: value, methods: ["GET"] };
  return { url: "http://127.0.0.1:9", public: { routes: [route] } };
}
