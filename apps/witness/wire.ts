import { systemClock } from "@ostiary/lib/async";
import { type Service, StartRefused } from "@ostiary/lib/runtime/service";
import { claimPath, FolderInUse } from "@ostiary/lib/runtime/stores/database";
import { createTelemetry } from "@ostiary/lib/runtime/telemetry";
import { createApp } from "./app.ts";
import type { WitnessConfig } from "./config.ts";
import { Cosigner } from "./cosigning/cosigner.ts";
import { createWitnessMetrics } from "./cosigning/metrics.ts";
import { loadWitnessKey, verifierKeyOf } from "./key/witness-key.ts";
import { loadLogsFile } from "./logs/logs-file.ts";
import { NotAState, readState, type WitnessState, writeState } from "./state/state-file.ts";

/**
 * Builds the witness from its configuration, ready to start. The state file is claimed first, so that no second
 * process cosigns with the same state.
 */
export async function wireWitness(config: WitnessConfig): Promise<Service> {
  const key = await loadWitnessKey(config.WITNESS_NAME, config.WITNESS_KEY_FILE);
  const logs = loadLogsFile(config.WITNESS_LOGS_FILE);
  const stateFile = config.WITNESS_STATE_FILE;
  const { state, release } = await claimState(verifierKeyOf(key), stateFile);
  const telemetry = await createTelemetry({ name: "witness", namespace: "witness" }, config);
  const health = { draining: false };
  const cosigner = new Cosigner({
    key,
    logs,
    heads: state.logs,
    store: (logs) => writeState(stateFile, { ...state, logs }),
    clock: systemClock,
    log: telemetry.log,
    metrics: createWitnessMetrics(telemetry.metrics),
  });
  return {
    name: "witness",
    telemetry,
    health,
    ...createApp({ telemetry, health, cosigner, requestsMax: config.MAX_REQUESTS_IN_FLIGHT }),
    async start() {},
    async stop() {
      await cosigner.idle();
      await release();
    },
  };
}

/** Claims the state file for this process, and reads it. */
async function claimState(
  verifier_key: string,
  path: string,
): Promise<{ state: WitnessState; release: () => Promise<void> }> {
  const release = await claim(path);
  try {
    return { state: await stateOf(verifier_key, path), release };
  } catch (error) {
    await release();
    throw error;
  }
}

async function claim(path: string): Promise<() => Promise<void>> {
  try {
    return await claimPath(path);
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error;
    throw new StartRefused(
      `WITNESS_STATE_FILE: ${error.holder} uses ${path}. Stop that process, or name another file.`,
    );
  }
}

async function stateOf(verifier_key: string, path: string): Promise<WitnessState> {
  try {
    const state = await readState(path);
    if (state.verifier_key === verifier_key) return state;
  } catch (error) {
    if (!(error instanceof NotAState)) throw error;
    throw new StartRefused(`WITNESS_STATE_FILE: ${path} ${STATE_PROBLEMS[error.problem]}`);
  }
  throw new StartRefused(
    `WITNESS_STATE_FILE: ${path} belongs to another key or name than WITNESS_KEY_FILE and WITNESS_NAME. Name the files that ostiary witness init made together.`,
  );
}

const STATE_PROBLEMS = {
  missing:
    "does not exist. For a new witness, run ostiary witness init. A witness whose state is lost needs a new key too.",
  unreadable: "cannot be read by this user.",
  other: "is not the state of a witness. Restore it, or make a new witness with a new key.",
} as const;
