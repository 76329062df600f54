const FIRST = 20_000;
const PORTS = 12_000;

/**
 * Returns a port on 127.0.0.1 that nobody listens on now. The system gives it to nobody else while its owner is down:
 * it is below the ephemeral ports. Prefer port 0 where the server under test accepts it and does not start again.
 */
export function freePort(): number {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * PORTS);
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
      return port;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) throw error;
    }
  }
}
