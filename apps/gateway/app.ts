import {
  createHandler,
  type HealthState,
  httpApp,
  probeRoutes,
  type ReadyChecks,
} from "@ostiary/lib/runtime/http";
import type { Listener } from "@ostiary/lib/runtime/service";
import type { Telemetry } from "@ostiary/lib/runtime/telemetry";
import type { ClientAddresses } from "./edge/address.ts";
import { Exchange } from "./exchange.ts";
import { handle, type Steps } from "./handle.ts";
import type { GatewaySocket } from "./upstream/websocket-tunnel.ts";

export interface GatewayApp {
  public: Listener<GatewaySocket>;
  internal: Listener;
}

export interface GatewayDependencies {
  steps: Steps;
  addresses: ClientAddresses;
  telemetry: Telemetry;
  checks: ReadyChecks;
  health: HealthState;
}

/** Internal bodies: there are none. */
const INTERNAL_BODY_BYTES_MAX = 1_024;

/** What answers the gateway's two ports. */
export function createApp({ steps, addresses, telemetry, checks, health }: GatewayDependencies): GatewayApp {
  const internal = httpApp({ body_bytes_max: INTERNAL_BODY_BYTES_MAX }).use(
    probeRoutes(checks, health, telemetry),
  );
  return {
    public: {
      fetch: (request, server) => handle(new Exchange(request, server, addresses, telemetry.tracing), steps),
      websocket: steps.websockets.handlers(),
    },
    internal: { fetch: createHandler(internal, { telemetry, request_id_on_response: false }) },
  };
}
