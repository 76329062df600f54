import { createServer } from "node:net";

/**
 * Returns a port on 127.0.0.1 that nobody listens on now. Prefer port 0 where the server under test accepts
 * it.
 */
export function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const server = createServer();
  server.on("error", reject);
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    server.close(() => {
      if (address !== null && typeof address === "object") resolve(address.port);
      else reject(new Error("No port was bound."));
    });
  });
  return promise;
}

/**
 * Returns a free port that the system gives to nobody else while its owner is down: it is below the ephemeral
 * ports.
 */
export function steadyPort(): number {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
      return port;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) throw error;
    }
  }
}
