const FIRST = 20_000;
const PORTS = 12_000;

/**
 * Returns a port on 127.0.0.1 that is free now. The port is below the ephemeral range, so the system assigns
 * it to no other process while a server restarts. Prefer port 0 for a server that accepts it and does not
 * restart.
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
