import type { Verdict } from "@ostiary/lib/verification";
import type { WitnessSettings } from "../../settings.ts";

/** A request to the worker to verify a log. */
export interface VerifyRequest {
  /** The address of an export with proof, at the origin of the page. */
  export_url: string;
  /** The credential, as request headers. */
  headers: Record<string, string>;
  /** The file that the customer kept, or null. */
  kept: Blob | null;
  /** The witnesses that must have cosigned the log; null requires no witnesses. */
  witnesses: WitnessSettings | null;
}

/** A message of the worker. All messages but the last are `progress`. */
export type WorkerMessage =
  | { type: "progress"; events: number; bytes: number }
  | { type: "verdict"; verdict: Verdict; copy: KeptCopy | null }
  /** The gateway refused the export. */
  | { type: "refused"; status: number; body: string; retry_after: string | null }
  /**
   * `kept`: the customer's file contains no copies. `broken`: the export ended early. `away`: no answer
   * arrived.
   */
  | { type: "failed"; reason: "kept" | "broken" | "away" };

/** A copy of the end of a log, for a later verification: it detects changes before that end. */
export interface KeptCopy {
  /** The number of the checkpoint in the copy. */
  number: number;
  text: string;
}
