import {
  createHandler,
  type HealthState,
  httpApp,
  probeRoutes,
  type ReadyChecks,
} from "@ostiary/lib/runtime/http";
import type { Listener } from "@ostiary/lib/runtime/service";
import { serverAttributes, type Telemetry, type Tracing } from "@ostiary/lib/runtime/telemetry";
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
  const { tracing } = telemetry;
  const internal = httpApp({ body_bytes_max: INTERNAL_BODY_BYTES_MAX }).use(
    probeRoutes(checks, health, telemetry),
  );
  return {
    public: {
      fetch: (request, server) => {
        const exchange = new Exchange(request, server, addresses, tracing);
        return exchange.trace.recorded ? handleTraced(exchange, steps, tracing) : handle(exchange, steps);
      },
      websocket: steps.websockets.handlers(),
    },
    internal: { fetch: createHandler(internal, { telemetry, health, request_id_on_response: false }) },
  };
}

/** The calls that are made for a request are part of its trace. */
function handleTraced(exchange: Exchange, steps: Steps, tracing: Tracing): Promise<Response | undefined> {
  const { trace, request } = exchange;
  trace.describe(serverAttributes(request, exchange.ip));
  return tracing.within(trace, () => handle(exchange, steps));
}
