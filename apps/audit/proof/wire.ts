import type { NoteKey } from "@ostiary/lib/domain/tlog";
import { StartRefused } from "@ostiary/lib/runtime/service";
import type { AuditConfig } from "../config.ts";
import { receiverDepsOf } from "../receivers/receiver-call.ts";
import type { WireDeps } from "../wire-deps.ts";
import type { ProofDeps } from "./export/proof.ts";
import type { PublishedLog } from "./root/root-handlers.ts";
import { loadLogKeys, verifierKeys } from "./root/signing-keys.ts";
import { selectNote } from "./root/tree-sql.ts";
import { Sealer } from "./seal/sealer.ts";
import { selectState } from "./seal/state-sql.ts";
import { loadWitnesses } from "./witnesses/witnesses-file.ts";
import { Witnessing } from "./witnesses/witnessing.ts";

/**
 * The time that an export waits for the sealer in addition to the seal interval. It is long enough for a pass, or for
 * another replica to take over.
 */
const SEAL_WAIT_MS = 4_000;

export interface Proof {
  published: PublishedLog;
  exports: ProofDeps;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Builds the sealer, the witnesses, and what endpoints and exports need. */
export async function wireProof(config: AuditConfig, shared: WireDeps): Promise<Proof> {
  const { reads, writes, clock, telemetry } = shared;
  const { log, metrics } = telemetry;
  const { AUDIT_LOG_ORIGIN: origin, SEAL_INTERVAL_MS: intervalMs } = config;
  const keys = await loadLogKeys(config.AUDIT_SIGNING_KEY_FILE, origin);
  const sealer = new Sealer({ reads, writes, keys, origin, intervalMs, clock, log, metrics });
  const logKeys = (keys ?? []).map(({ key }) => key);
  const witnessing = witnessingOf(config, shared, logKeys, () => sealer.isSealing);
  return {
    published: {
      database: reads,
      keys: verifierKeys(keys),
      selectRoot: async () => (await witnessing?.select())?.note ?? (await selectNote(reads)),
    },
    exports: {
      reads,
      writes,
      clock,
      cosigned: witnessing,
      keys: logKeys,
      waitMsMax: intervalMs + SEAL_WAIT_MS,
    },
    async start() {
      await checkOrigin(shared, origin);
      sealer.start();
      witnessing?.start();
    },
    async stop() {
      await witnessing?.stop();
      await sealer.stop();
    },
  };
}

/** Returns the task that asks the witnesses, or null if the log has none. */
function witnessingOf(
  config: AuditConfig,
  shared: WireDeps,
  keys: readonly NoteKey[],
  isSealing: () => boolean,
): Witnessing | null {
  if (config.AUDIT_WITNESSES_FILE === undefined) return null;
  const receivers = receiverDepsOf(config, shared.clock);
  return new Witnessing({
    ...shared,
    ...shared.telemetry,
    keys,
    isSealing,
    receivers,
    witnesses: loadWitnesses(config.AUDIT_WITNESSES_FILE, receivers.rules),
    quorum: config.AUDIT_WITNESS_QUORUM,
    intervalMs: config.AUDIT_WITNESS_INTERVAL_MS,
    origin: config.AUDIT_LOG_ORIGIN,
  });
}

/** Refuses another name than that of the tree, because witnesses and readers know the log by its name. */
async function checkOrigin({ writes }: WireDeps, origin: string): Promise<void> {
  const { trees } = await writes.run("select_sealer", selectState);
  const named = trees.at(-1)?.origin ?? origin;
  if (named === origin) return;
  throw new StartRefused(
    `AUDIT_LOG_ORIGIN is ${origin}, and the tree of the log has the name ${named}: set AUDIT_LOG_ORIGIN=${named}, or run ostiary audit restart --origin ${origin} to begin a new tree.`,
  );
}
