/** A quota of one subject in one calendar period, with its bucket in the counter store. */
export interface QuotaBucket {
  readonly bucket: string;
  /** The prefix of the limit's buckets, including the colon at its end. */
  readonly bucketPrefix: string;
  /** The calendar day or month, such as `2026-11-23` or `2026-11`. */
  readonly period: string;
  readonly subject: string;
  /** The maximum number of requests in the period. */
  readonly requests: number;
}

/** The record of charges to quotas, for the counts that a counter store has lost (GW-191, GW-192). */
export interface QuotaRecord {
  /** Adds requests that were charged to a quota. A negative number is a refund. */
  charged(quota: QuotaBucket, requests: number): void;
  /** Returns the recorded count of a quota. Rejects with ApiError 503 if the count cannot be read. */
  known(quota: QuotaBucket): Promise<number>;
}
