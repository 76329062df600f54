import type { RegistryClient } from "@ostiary/cli";
import { type Clock, pause, systemClock } from "@ostiary/lib/async";
import { localOrigin } from "@ostiary/lib/runtime/service";
import { type AdminAccess, adminClient } from "./catalogs.ts";
import type { RunningGateway } from "./start-services.ts";

/** How long the start waits for stores and key sets that do not respond. */
const READY_MS_MAX = 10_000;
const READY_PAUSE_MS = 50;

/**
 * Waits until the gateway is ready and serves all published services, so that the first call of the tour is not
 * refused (OP-97).
 */
export async function untilReady(
  gateway: Pick<RunningGateway, "instance" | "internal_port">,
  { host, access, onProgress }: { host: string; access: AdminAccess; onProgress: (step: string) => void },
  clock: Clock = systemClock,
): Promise<void> {
  const url = `${localOrigin(host, gateway.internal_port)}/health/ready`;
  const untilMs = clock.elapsedMs() + READY_MS_MAX;
  const isReady = async () => (await fetch(url, { signal: AbortSignal.timeout(READY_MS_MAX) })).ok;
  if (!(await isMet(isReady, untilMs, clock))) return onProgress(`The gateway is not ready: ${url} says why`);
  const registry = adminClient(access, READY_MS_MAX / 1_000);
  if (await isMet(() => servesAll(gateway, registry), untilMs, clock)) return;
  onProgress(
    `The gateway does not serve all published services yet: ${access.registryUrl}/gateways says what it serves`,
  );
}

/** Tries a condition until it is met. Returns false if that does not happen in time. A failed try is repeated. */
async function isMet(condition: () => Promise<boolean>, untilMs: number, clock: Clock): Promise<boolean> {
  for (;;) {
    if (await condition().catch(() => false)) return true;
    if (clock.elapsedMs() >= untilMs) return false;
    await pause(clock, READY_PAUSE_MS);
  }
}

/** Returns whether the gateway serves everything that is published, except services that it must skip. */
async function servesAll(
  { instance }: Pick<RunningGateway, "instance">,
  registry: RegistryClient,
): Promise<boolean> {
  const gateways = await registry.gateways();
  const own = gateways.find((gateway) => gateway.instance === instance);
  return own !== undefined && (own.current || own.skipped.length > 0);
}
