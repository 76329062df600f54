import type { Server } from "node:net";

/** Lets a server listen at a free port of this machine, and returns the port. */
export async function listenLocally(server: Server): Promise<number> {
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("No port was bound.");
  return address.port;
}
