import { hostname } from "node:os";
import type { Clock } from "@ostiary/lib/async";
import { type GatewayInstance, SKIPPED_SERVICES_MAX } from "@ostiary/lib/contracts/gateway-instance";
import { INSTANCE_TTL_SECONDS, INSTANCES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import type { RouteLease, RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import type { LoadedRoutes } from "./published-routes.ts";

const HOST_LENGTH_MAX = 100;

/**
 * The leased key of this gateway in the route store. The key tells the registry that the gateway runs and
 * what it serves (GW-30). Writes happen in the background, so that a failing store delays no request.
 */
export class Instance {
  readonly id: string;
  readonly #clock: Clock;
  readonly #started_at: string;
  readonly #lease: RouteLease;

  constructor(store: Pick<RouteStore, "lease">, log: Pick<Logger, "info" | "warn">, clock: Clock) {
    this.id = newInstanceId();
    this.#clock = clock;
    this.#started_at = timeOf(clock);
    this.#lease = store.lease(INSTANCES_PREFIX + this.id, {
      ttlSeconds: INSTANCE_TTL_SECONDS,
      onFailure: (error) =>
        log.warn(
          { err: error },
          "the route store does not accept this gateway's status: the gateway keeps serving",
        ),
      onRecovery: () => log.info({}, "the route store accepts this gateway's status again"),
    });
  }

  report({ skipped, ...loaded }: LoadedRoutes): void {
    const instance: GatewayInstance = {
      instance: this.id,
      started_at: this.#started_at,
      loaded_at: timeOf(this.#clock),
      ...loaded,
      skipped: skipped.slice(0, SKIPPED_SERVICES_MAX),
    };
    this.#lease.put(JSON.stringify(instance));
  }

  release(): Promise<void> {
    return this.#lease.release();
  }
}

function newInstanceId(): string {
  const host = hostname()
    .replace(/[^A-Za-z0-9._-]/g, "-")
    .slice(0, HOST_LENGTH_MAX);
  return `${host}-${Bun.randomUUIDv7().slice(-8)}`;
}

function timeOf(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}
