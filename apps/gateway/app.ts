import {
  createHandler,
  type HealthState,
  httpApp,
  probeRoutes,
  type ReadyChecks,
} from "@ostiary/lib/runtime/http";
import type { Listener } from "@ostiary/lib/runtime/service";
import { serverAttributes, type Telemetry, type Tracing } from "@ostiary/lib/runtime/telemetry";
import type { ClientAddresses } from "./edge/client-address.ts";
import { Exchange } from "./exchange.ts";
import { handle, type Steps } from "./handle.ts";
import type { GatewaySocket } from "./upstream/websocket-tunnel.ts";

interface GatewayApp {
  public: Listener<GatewaySocket>;
  internal: Listener;
}

interface GatewayDependencies {
  steps: Steps;
  addresses: ClientAddresses;
  telemetry: Telemetry;
  checks: ReadyChecks;
  health: HealthState;
}

/** Size limit for request bodies on the internal port. No operation of that port accepts a body. */
const INTERNAL_BODY_BYTES_MAX = 1_024;

export function createApp(dependencies: GatewayDependencies): GatewayApp {
  const { steps, addresses, telemetry, checks, health } = dependencies;
  const { tracing } = telemetry;
  const internal = httpApp({ bodyBytesMax: INTERNAL_BODY_BYTES_MAX }).use(
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
    internal: { fetch: createHandler(internal, { telemetry, health, requestIdOnResponse: false }) },
  };
}

/** Handles a request within its trace, so that the calls for the request become part of the trace. */
function handleTraced(exchange: Exchange, steps: Steps, tracing: Tracing): Promise<Response | undefined> {
  const { trace, request } = exchange;
  trace.describe(serverAttributes(request, exchange.ip));
  return tracing.within(trace, () => handle(exchange, steps));
}
