import { type Clock, Semaphore } from "@ostiary/lib/async";
import {
  type AuditOutcome,
  OUTCOMES_MAX,
  type OutcomeAnswer,
  outcomeResultsSchema,
} from "@ostiary/lib/contracts/audit";
import { fits } from "@ostiary/lib/domain/errors";
import { reasonOf } from "@ostiary/lib/runtime/http";
import type { AuditClient } from "./client.ts";
import type { WriteResult } from "./metrics.ts";

/** What a try to write an outcome came to; `result` null: try it again, for this reason. */
export interface OutcomeTry {
  readonly result: WriteResult | null;
  readonly reason: string;
}

interface Waiting {
  readonly request_id: string;
  readonly outcome: AuditOutcome;
  readonly resolve: (tried: OutcomeTry | Promise<OutcomeTry>) => void;
}

const CALLS_MAX = 32;
const CALL_TIMEOUT_MS = 2_000;
/** Those that come while a call is under way are many enough to travel together. */
const GATHER_MS = 5;

/**
 * Tries to write outcomes, each once: one that comes alone at once, by a call of its own; those of a few
 * milliseconds together while a call is under way. An audit service that takes no such calls gets single ones.
 */
export class OutcomeCalls {
  readonly #client: Pick<AuditClient, "patchOutcome" | "postOutcomes">;
  readonly #clock: Clock;
  readonly #calls = new Semaphore(CALLS_MAX);
  #gathered: Waiting[] = [];
  #takesBatches = true;

  constructor(client: Pick<AuditClient, "patchOutcome" | "postOutcomes">, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Never rejects. */
  withOthers(request_id: string, outcome: AuditOutcome): Promise<OutcomeTry> {
    if (!this.#takesBatches || this.#calls.idle) return this.alone(request_id, outcome);
    return new Promise((resolve) => {
      const gathered = this.#gathered.push({ request_id, outcome, resolve });
      if (gathered === OUTCOMES_MAX) this.#send();
      else if (gathered === 1) this.#clock.after(GATHER_MS, () => this.#send());
    });
  }

  /** Never rejects. */
  alone(request_id: string, outcome: AuditOutcome): Promise<OutcomeTry> {
    return this.#calls.run(() =>
      this.#client.patchOutcome(request_id, outcome, CALL_TIMEOUT_MS).then(triedBy, failedBy),
    );
  }

  #send(): void {
    const batch = this.#gathered;
    this.#gathered = [];
    if (batch.length > 1) void this.#sendTogether(batch);
    else this.#sendAlone(batch);
  }

  #sendAlone(batch: readonly Waiting[]): void {
    for (const { request_id, outcome, resolve } of batch) resolve(this.alone(request_id, outcome));
  }

  async #sendTogether(batch: readonly Waiting[]): Promise<void> {
    const outcomes = batch.map(({ request_id, outcome }) => ({ request_id, ...outcome }));
    const answer = await this.#calls.run(() =>
      this.#client.postOutcomes(outcomes, CALL_TIMEOUT_MS).catch(failedBy),
    );
    if ("reason" in answer) return settle(batch, () => answer);
    const { status, text } = answer;
    if (status >= 500) return settle(batch, () => triedBy(status));
    const results = status === 200 ? resultsIn(text) : null;
    if (results?.length === batch.length) return settle(batch, (index) => resultOfAnswer(results[index]));
    // 413 is about these outcomes; whatever else is no list of results comes from a service without such calls
    if (status !== 413) this.#takesBatches = false;
    this.#sendAlone(batch);
  }
}

function settle(batch: readonly Waiting[], tried: (index: number) => OutcomeTry): void {
  for (const [index, { resolve }] of batch.entries()) resolve(tried(index));
}

/** What the answer to a PATCH means. */
function triedBy(status: number): OutcomeTry {
  const reason = `the audit service answered ${status}`;
  if (status >= 200 && status < 300) return { result: "ok", reason };
  if (status === 404) return { result: "not_found", reason };
  return { result: status === 422 ? "failed" : null, reason };
}

function failedBy(error: unknown): OutcomeTry {
  return { result: null, reason: reasonOf(error) };
}

const RESULTS: Readonly<Record<OutcomeAnswer["result"], WriteResult>> = {
  applied: "ok",
  already_final: "ok",
  not_found: "not_found",
  invalid: "failed",
};

function resultOfAnswer(answer: OutcomeAnswer | undefined): OutcomeTry {
  const reason = "the audit service answered for each of several";
  return { result: answer === undefined ? null : RESULTS[answer.result], reason };
}

/** The results in an answer's body; null when it holds none. */
function resultsIn(text: string): OutcomeAnswer[] | null {
  try {
    const body: unknown = JSON.parse(text);
    return fits(outcomeResultsSchema, body) ? body.results : null;
  } catch {
    return null; // not JSON
  }
}
