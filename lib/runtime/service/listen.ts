import { ConfigError } from "../config/index.ts";
import type { Certificate } from "./certificate.ts";
import { type PortUse, portProblem } from "./ports.ts";
import type { Listener } from "./service.ts";

/** Bodies are counted by the services themselves, which answer with the envelope. */
const BODY_BYTES_UNLIMITED = Number.MAX_SAFE_INTEGER;

/** Opens a port, by TLS when there is a certificate. Throws `ConfigError` that names the variable when it can not be opened (contract 1). */
export function listen<Socket>(
  listener: Listener<Socket>,
  use: PortUse,
  certificate?: Certificate,
): Bun.Server<Socket> {
  try {
    return Bun.serve<Socket>({
      hostname: use.host,
      port: use.port,
      // the runtime shares a port without a word unless it is told not to; a renewed certificate needs a second server
      reusePort: use.shared === true || certificate !== undefined,
      tls: certificate && { cert: certificate.cert, key: certificate.key },
      // else the runtime prints what breaks a response on purpose, and shows callers its error page
      development: false,
      idleTimeout: 0,
      maxRequestBodySize: BODY_BYTES_UNLIMITED,
      fetch: (request, server) => listener.fetch(request, server),
      websocket: webSocketHandler(listener),
    });
  } catch (error) {
    throw new ConfigError([portProblem(use, error)]);
  }
}

/** The runtime wants one, also where nothing is ever upgraded. */
export function webSocketHandler<Socket>({ websocket }: Listener<Socket>): Bun.WebSocketHandler<Socket> {
  return websocket ?? { message: () => {} };
}
