import { ConfigError } from "../config/index.ts";
import { type PortUse, portProblem } from "./ports.ts";
import type { Listener } from "./service.ts";

/** Services enforce their own limit, to return the error envelope. */
const BODY_BYTES_UNLIMITED = Number.MAX_SAFE_INTEGER;

/** Throws a ConfigError that names the variable if the port cannot be opened (OP-4). */
export function listen<Socket>(listener: Listener<Socket>, use: PortUse): Bun.Server<Socket> {
  try {
    return Bun.serve<Socket>({
      hostname: use.host,
      port: use.port,
      // The runtime would share every port by default.
      reusePort: use.shared === true,
      // In development mode, the runtime shows its error page to callers, and prints responses that are aborted on purpose.
      development: false,
      // Handlers set the timeouts of requests.
      idleTimeout: 0,
      maxRequestBodySize: BODY_BYTES_UNLIMITED,
      fetch: (request, server) => listener.fetch(request, server),
      // The runtime requires a handler even if no request is upgraded.
      websocket: listener.websocket ?? { message: () => {} },
    });
  } catch (error) {
    throw new ConfigError([portProblem(use, error)]);
  }
}
