import { ConfigError } from "../config/index.ts";
import { type PortUse, portProblem } from "./ports.ts";
import type { Listener } from "./service.ts";

/** Bodies are counted by the services themselves, which answer with the envelope. */
const BODY_BYTES_UNLIMITED = Number.MAX_SAFE_INTEGER;

/** Opens a port. Throws `ConfigError` that names the variable when it can not be opened (contract 1). */
export function listen<Socket>(listener: Listener<Socket>, use: PortUse): Bun.Server<Socket> {
  try {
    return Bun.serve<Socket>({
      hostname: use.host,
      port: use.port,
      // the runtime shares a port without a word unless it is told not to
      reusePort: use.shared === true,
      // else the runtime prints what breaks a response on purpose, and shows callers its error page
      development: false,
      idleTimeout: 0,
      maxRequestBodySize: BODY_BYTES_UNLIMITED,
      fetch: (request, server) => listener.fetch(request, server),
      websocket: listener.websocket ?? { message: () => {} },
    });
  } catch (error) {
    throw new ConfigError([portProblem(use, error)]);
  }
}
