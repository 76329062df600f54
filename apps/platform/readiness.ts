import { pause, systemClock } from "@ostiary/lib/async";
import { localOrigin, type Running } from "@ostiary/lib/runtime/service";

/** How long the start waits for stores and key sets that do not answer. */
const READY_MS_MAX = 10_000;
const READY_PAUSE_MS = 50;

/** Waits until the gateway is ready, so that the first call of the tour is not refused. */
export async function untilReady(
  gateway: Running,
  host: string,
  onProgress: (step: string) => void,
): Promise<void> {
  const url = `${localOrigin(host, gateway.internal_port)}/health/ready`;
  const untilMs = systemClock.elapsedMs() + READY_MS_MAX;
  while (systemClock.elapsedMs() < untilMs) {
    const answer = await fetch(url, { signal: AbortSignal.timeout(READY_MS_MAX) }).catch(() => null);
    if (answer?.ok) return;
    await pause(systemClock, READY_PAUSE_MS);
  }
  onProgress(`The gateway is not ready: ${url} says why`);
}
