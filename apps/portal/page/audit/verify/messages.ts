import type { Failure } from "@ostiary/lib/page/failure";
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

/** The state of a verification. The worker sends each state after `idle`. */
export type Verification =
  | { state: "idle" }
  | { state: "running"; events: number; bytes: number }
  | { state: "done"; verdict: Verdict; copy: KeptCopy | null }
  | { state: "refused"; failure: Failure }
  /**
   * `kept`: the customer's file has no root. `broken`: the response is not an export. `unavailable`: no
   * response arrived, or the download ended early.
   */
  | { state: "failed"; reason: "kept" | "broken" | "unavailable" };

/** The signed root of an export. A later verification uses it to detect changes before that root. */
export interface KeptCopy {
  size: number;
  text: string;
}
