import { pause, systemClock } from "../../../async/index.ts";
import { sqlState } from "./failure.ts";

const RETRIES_MAX = 5;
const PAUSE_MS = 10;
const SERIALIZATION_FAILURE = "40001";
const DEADLOCK_DETECTED = "40P01";

/** Retries `attempt` after a serialization failure or a deadlock, with exponential backoff and jitter. */
export async function retryConflicts<T>(attempt: () => Promise<T>): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      return await attempt();
    } catch (error) {
      const state = sqlState(error);
      const conflict = state === SERIALIZATION_FAILURE || state === DEADLOCK_DETECTED;
      if (!conflict || retries === RETRIES_MAX) throw error;
      await pause(systemClock, PAUSE_MS * 2 ** retries * Math.random());
    }
  }
}
