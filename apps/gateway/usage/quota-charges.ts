import type { QuotaCharge, QuotaName } from "@ostiary/lib/contracts/usage-contract";
import type { QuotaBucket } from "../limits/limit-set.ts";
import { isCountable } from "./counter.ts";

const QUOTAS_MAX = 100_000;

/** The charges to quotas that wait for a report (GW-191). */
export class QuotaCharges {
  readonly #quotasMax: number;
  readonly #waiting = new Map<string, QuotaCharge>();
  lost = 0;

  constructor(quotasMax = QUOTAS_MAX) {
    this.#quotasMax = quotasMax;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  add(quota: QuotaBucket, requests: number): void {
    const waiting = this.#waiting.get(quota.bucket) ?? this.#begin(quota);
    if (waiting === null) {
      this.lost += Math.abs(requests);
      return;
    }
    waiting.count += requests;
    waiting.requests = quota.requests;
  }

  take(max: number): QuotaCharge[] {
    const taken: QuotaCharge[] = [];
    for (const [bucket, charge] of this.#waiting) {
      if (taken.length === max) break;
      this.#waiting.delete(bucket);
      taken.push(charge);
    }
    return taken;
  }

  /** Counts `charges` as lost, because no accepted report contains them. Returns their number. */
  lose(charges: readonly QuotaCharge[]): number {
    const lost = charges.reduce((sum, { count }) => sum + Math.abs(count), 0);
    this.lost += lost;
    return lost;
  }

  #begin(quota: QuotaBucket): QuotaCharge | null {
    const name = quotaName(quota);
    if (name === null || this.#waiting.size >= this.#quotasMax) return null;
    const begun = { ...name, count: 0 };
    this.#waiting.set(quota.bucket, begun);
    return begun;
  }
}

/** Returns the name of a quota for the audit service, or null if the service does not accept the subject. */
export function quotaName({ bucketPrefix, period, subject }: QuotaBucket): QuotaName | null {
  return isCountable(subject) ? { policy: bucketPrefix.slice(0, -1), period, subject } : null;
}
