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

/** Size limit for request bodies on the internal port. No operation of that port accepts a body. */
const INTERNAL_BODY_BYTES_MAX = 1_024;

export function publicListener(
  steps: Steps,
  addresses: ClientAddresses,
  { tracing }: Telemetry,
): Listener<GatewaySocket> {
  return {
    fetch: (request, server) => {
      const exchange = new Exchange(request, server, addresses, tracing);
      return exchange.trace.recorded ? handleTraced(exchange, steps, tracing) : handle(exchange, steps);
    },
    websocket: steps.websockets.handlers(),
  };
}

export function internalListener(checks: ReadyChecks, health: HealthState, telemetry: Telemetry): Listener {
  const internal = httpApp({ bodyBytesMax: INTERNAL_BODY_BYTES_MAX }).use(
    probeRoutes(checks, health, telemetry),
  );
  return { fetch: createHandler(internal, { telemetry, health, requestIdOnResponse: false }) };
}

/** Handles a request within its trace, so that the calls for the request become part of the trace. */
function handleTraced(exchange: Exchange, steps: Steps, tracing: Tracing): Promise<Response | undefined> {
  const { trace, request } = exchange;
  trace.describe(serverAttributes(request, exchange.ip));
  return tracing.within(trace, () => handle(exchange, steps));
}
