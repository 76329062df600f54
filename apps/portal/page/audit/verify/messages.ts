import type { Verdict } from "@ostiary/lib/verification";
import type { WitnessSettings } from "../../settings.ts";

export interface VerifyRequest {
  /** The URL of an export with proof. Its origin is the page's origin. */
  exportUrl: string;
  headers: Record<string, string>;
  /** The owner whose log it must be, such as `organization:01K…`. */
  owner: string;
  kept: Blob | null;
  witnesses: WitnessSettings | null;
}

/** A message from the worker. Only the last message has a type other than `progress`. */
export type WorkerMessage =
  | { type: "progress"; events: number; bytes: number }
  | { type: "verdict"; verdict: Verdict; copy: KeptCopy | null }
  | { type: "refused"; status: number; body: string; retryAfter: string | null }
  /**
   * `kept`: the customer's file has no root. `broken`: the response is not an export. `away`: no
   * response arrived, or the download ended early.
   */
  | { type: "failed"; reason: "kept" | "broken" | "away" };

/** The signed root of an export. A later verification uses it to detect changes before that root. */
export interface KeptCopy {
  size: number;
  text: string;
}
