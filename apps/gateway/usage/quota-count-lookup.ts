import { Batches, type Clock, type Member, rejectEach, resolveEach } from "@ostiary/lib/async";
import { QUOTA_LOOKUPS_MAX, QuotaCounts, type QuotaName } from "@ostiary/lib/contracts/usage-contract";
import { fits, reasonOf, unavailable } from "@ostiary/lib/domain/errors";
import { tryJson } from "@ostiary/lib/domain/json";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import type { AuditClient } from "../audit/audit-client.ts";
import type { QuotaBucket } from "../limits/limit-set.ts";
import { quotaName } from "./quota-charges.ts";

type LookupResult = "ok" | "failed" | "refused";

interface QuotaCountLookupOptions {
  readonly client: Pick<AuditClient, "postQuotas">;
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  readonly clock?: Clock;
}

/** The maximum time that a lookup waits for the end of a call in flight. */
const GATHER_MS = 5;
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 422]);

type PendingCount = Member<QuotaName, number>;

/**
 * Reads from the audit service the counts of quotas that the counter store lacks (GW-192). Concurrent requests
 * for the same quota share one lookup. Lookups that start at the same time share one call.
 */
export class QuotaCountLookup {
  readonly #options: QuotaCountLookupOptions;
  readonly #batches: Batches<QuotaName, number>;
  readonly #pending = new Map<string, Promise<number>>();
  readonly #results: Record<LookupResult, number> = { ok: 0, failed: 0, refused: 0 };
  readonly results: Readonly<Record<LookupResult, number>> = this.#results;
  #failing = false;

  constructor(options: QuotaCountLookupOptions) {
    this.#options = options;
    const { clock } = options;
    this.#batches = new Batches((batch) => this.#send(batch), {
      itemsMax: QUOTA_LOOKUPS_MAX,
      waitMs: GATHER_MS,
      clock,
    });
  }

  /**
   * Returns the recorded count of a quota. Returns 0 if the audit service has no count or refuses the quota.
   *
   * @throws ApiError 503 if the audit service is unavailable
   */
  of(quota: QuotaBucket): Promise<number> {
    const pending = this.#pending.get(quota.bucket);
    if (pending !== undefined) return pending;
    const name = quotaName(quota);
    if (name === null) return Promise.resolve(0);
    const lookup = this.#batches.add(name).finally(() => this.#pending.delete(quota.bucket));
    this.#pending.set(quota.bucket, lookup);
    return lookup;
  }

  /** Sends a batch as one call, or as single calls if the audit service refuses the batch. Never rejects. */
  async #send(batch: readonly PendingCount[]): Promise<unknown> {
    const { client, log } = this.#options;
    try {
      const { status, text } = await client.postQuotas(batch.map(({ item }) => item));
      const counts = status === 200 ? countsIn(text) : null;
      if (counts?.length === batch.length) return this.#succeed(batch, counts);
      if (!REFUSALS.has(status)) throw new Error(`The audit service responded with ${status}.`);
      // Repeat the call for each quota, because only one of them may be the reason for the refusal.
      if (batch.length > 1) return Promise.all(batch.map((each) => this.#send([each])));
      this.#results.refused += 1;
      log.error(
        { status, quota: batch[0]?.item },
        "the audit service refused to return the count of a quota",
      );
      return resolveEach(batch, [0]);
    } catch (error) {
      this.#noteFailure(error);
      return rejectEach(batch, unavailable("network", error));
    }
  }

  #succeed(batch: readonly PendingCount[], counts: readonly number[]): void {
    this.#results.ok += 1;
    if (this.#failing) this.#options.log.info({}, "the audit service returns the counts of quotas again");
    this.#failing = false;
    resolveEach(batch, counts);
  }

  #noteFailure(error: unknown): void {
    this.#results.failed += 1;
    if (!this.#failing) {
      const reason = reasonOf(error);
      this.#options.log.warn({ reason }, "the audit service does not return the counts of quotas");
    }
    this.#failing = true;
  }
}

function countsIn(text: string): readonly number[] | null {
  const body = tryJson(text, JSON.parse);
  return fits(QuotaCounts, body) ? body.counts : null;
}
