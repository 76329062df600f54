import type { Verdict } from "@ostiary/lib/verification";
import type { WitnessSettings } from "../../settings.ts";

/** The question to the worker: which log to verify. */
export interface VerifyRequest {
  /** The address of an export with proof, at the origin of the page. */
  export_url: string;
  /** The credential, as fields of a request. */
  headers: Record<string, string>;
  /** The file that the customer kept, or null. */
  kept: Blob | null;
  /** The witnesses that must have seen the log, or null. */
  witnesses: WitnessSettings | null;
}

/** A message of the worker. The last one is the only one that is not `progress`. */
export type WorkerMessage =
  | { type: "progress"; events: number; bytes: number }
  | { type: "verdict"; verdict: Verdict; copy: KeptCopy | null }
  /** The gateway refused the export. */
  | { type: "refused"; status: number; body: string; retry_after: string | null }
  /** `kept`: the file holds no copies. `broken`: the export ended early. `away`: no answer came. */
  | { type: "failed"; reason: "kept" | "broken" | "away" };

/** A copy of the end of the log, which shows later that nothing before it was changed. */
export interface KeptCopy {
  /** The number of its checkpoint. */
  number: number;
  text: string;
}
