import { Semaphore } from "@ostiary/lib/async";
import {
  type AuditOutcome,
  BATCH_MAX,
  type IdentifiedOutcome,
  type OutcomeAnswer,
  outcomeResultsSchema,
} from "@ostiary/lib/contracts/audit";
import { reasonOf } from "@ostiary/lib/domain/errors";
import { BatchedCalls, type CallOptions, resultsReader } from "./batched-calls.ts";
import type { AuditClient } from "./client.ts";
import type { WriteResult } from "./metrics.ts";

/**
 * The result of one attempt to write an outcome. If `result` is null, the attempt must be repeated; `reason`
 * says why.
 */
interface OutcomeTry {
  readonly result: WriteResult | null;
  readonly reason: string;
}

const CALLS_MAX = 32;
const CALL_TIMEOUT_MS = 2_000;

/** Makes single attempts to send an outcome, alone or in a batch. */
export class OutcomeCalls {
  readonly #client: Pick<AuditClient, "patchOutcome" | "postOutcomes">;
  readonly #calls = new Semaphore(CALLS_MAX);
  readonly #batched: BatchedCalls<IdentifiedOutcome, OutcomeTry>;

  constructor(client: Pick<AuditClient, "patchOutcome" | "postOutcomes">, options: CallOptions) {
    this.#client = client;
    this.#batched = new BatchedCalls(
      {
        itemsMax: BATCH_MAX,
        alone: ({ request_id, ...outcome }) => this.alone(request_id, outcome),
        together: (outcomes) => this.#calls.run(() => client.postOutcomes(outcomes, CALL_TIMEOUT_MS)),
        triedBy,
        failedBy,
        resultsIn: resultsReader(outcomeResultsSchema, triedByResult),
      },
      options,
    );
  }

  /** Sends the outcome in a call that other outcomes may share. Never rejects. */
  withOthers(request_id: string, outcome: AuditOutcome): Promise<OutcomeTry> {
    return this.#batched.withOthers({ request_id, ...outcome });
  }

  /** Sends the outcome in a separate call. Never rejects. */
  alone(request_id: string, outcome: AuditOutcome): Promise<OutcomeTry> {
    return this.#calls.run(() =>
      this.#client.patchOutcome(request_id, outcome, CALL_TIMEOUT_MS).then(triedBy, failedBy),
    );
  }
}

/** Returns the result of a PATCH whose response has `status`. */
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

function triedByResult({ result }: OutcomeAnswer): OutcomeTry {
  return { result: RESULTS[result], reason: "the audit service answered a batch" };
}
