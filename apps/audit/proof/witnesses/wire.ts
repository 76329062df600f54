import type { AuditConfig } from "../../config.ts";
import { receiverDepsOf, type Shared } from "../../streams/wire.ts";
import type { CosignedRoots } from "../export/proof.ts";
import { selectNote } from "../root/tree-sql.ts";
import { selectCosignedRoot } from "./sql.ts";
import { loadWitnesses } from "./witnesses-file.ts";
import { Witnessing } from "./witnessing.ts";

/** The longest time that an export waits for the next round of the witnesses, even if the interval is longer. */
const INTERVAL_WAIT_MS_MAX = 10_000;
/** The additional time that an export waits for the responses of the witnesses. */
const ANSWER_WAIT_MS = 2_000;

interface WitnessesGiven extends Shared {
  isSealing: () => boolean;
}

interface Witnesses {
  /** Null if the log has no witnesses. */
  witnessing: Witnessing | null;
  /**
   * Returns the newest root that a quorum cosigned. If there is none, returns the newest root that the log signed;
   * null before the first root.
   */
  selectRoot: () => Promise<string | null>;
  /** The roots that a quorum cosigned, for exports; null if the log has no witnesses. */
  cosigned: CosignedRoots | null;
}

/** Builds the components that ask witnesses, from the configuration. */
export function wireWitnesses(config: AuditConfig, given: WitnessesGiven): Witnesses {
  const { reads, clock, telemetry } = given;
  if (config.AUDIT_WITNESSES_FILE === undefined) {
    return { witnessing: null, selectRoot: () => selectNote(reads), cosigned: null };
  }
  const receivers = receiverDepsOf(config, clock);
  const witnesses = loadWitnesses(config.AUDIT_WITNESSES_FILE, receivers.rules);
  const quorum = config.AUDIT_WITNESS_QUORUM;
  const intervalMs = config.AUDIT_WITNESS_INTERVAL_MS;
  const origin = config.AUDIT_LOG_ORIGIN;
  const witnessing = new Witnessing({
    ...given,
    ...{ witnesses, quorum, intervalMs, origin, receivers, ...telemetry },
  });
  const keys = witnesses.map(({ keyText }) => keyText);
  const select = () => selectCosignedRoot(reads, origin, keys, quorum);
  return {
    witnessing,
    selectRoot: async () => (await select())?.note ?? (await selectNote(reads)),
    cosigned: { select, waitMsMax: Math.min(intervalMs, INTERVAL_WAIT_MS_MAX) + ANSWER_WAIT_MS },
  };
}
