import { ConfigError } from "../config/index.ts";
import type { Certificate } from "./certificate.ts";
import { type PortUse, portProblem } from "./ports.ts";
import type { Listener } from "./service.ts";

/** The runtime's limit on bodies. Services enforce their own limit and answer with the envelope. */
const BODY_BYTES_UNLIMITED = Number.MAX_SAFE_INTEGER;

/**
 * Opens a port, with TLS if there is a certificate.
 *
 * @throws ConfigError that names the variable when the port cannot be opened (OP-4).
 */
export function listen<Socket>(
  listener: Listener<Socket>,
  use: PortUse,
  certificate?: Certificate,
): Bun.Server<Socket> {
  try {
    return Bun.serve<Socket>({
      hostname: use.host,
      port: use.port,
      // The runtime would share every port by default. With TLS the port is shared, because a renewed
      // certificate needs a second server on it.
      reusePort: use.shared === true || certificate !== undefined,
      tls: certificate && { cert: certificate.cert, key: certificate.key },
      // In development mode the runtime prints responses that end early on purpose, and shows callers its
      // error page.
      development: false,
      http2: listener.http2 !== undefined,
      // Handlers set the timeout of each request. This timeout is for HTTP/2 connections without streams.
      idleTimeout: listener.http2?.idleSeconds ?? 0,
      maxRequestBodySize: BODY_BYTES_UNLIMITED,
      fetch: (request, server) => listener.fetch(request, server),
      websocket: webSocketHandler(listener),
    });
  } catch (error) {
    throw new ConfigError([portProblem(use, error)]);
  }
}

/** Returns the WebSocket handler, which the runtime requires even if no request is ever upgraded. */
export function webSocketHandler<Socket>({ websocket }: Listener<Socket>): Bun.WebSocketHandler<Socket> {
  return websocket ?? { message: () => {} };
}
