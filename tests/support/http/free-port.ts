/**
 * The first port of the first block. All blocks end below the ephemeral range, which the system assigns to
 * clients.
 */
const FIRST = 20_000;
const BLOCKS = 48;
const BLOCK_PORTS = 250;

let block: { readonly first: number; handedOut: number } | undefined;

/**
 * Returns a port on 127.0.0.1 that no test process and no other program uses. Each process takes ports from
 * its own block, so a server can bind the port later and restart. A port is returned again after 248 others.
 * Prefer port 0 for a server that accepts it and does not restart.
 */
export function freePort(): number {
  block ??= { first: claimBlock(), handedOut: 0 };
  for (let tries = 1; tries < BLOCK_PORTS; tries++) {
    const port = block.first + 1 + (block.handedOut++ % (BLOCK_PORTS - 1));
    const listener = listenOn(port);
    listener?.stop(true);
    if (listener !== null) return port;
  }
  throw new Error(`All ports from ${block.first} to ${block.first + BLOCK_PORTS - 1} are in use.`);
}

/**
 * Claims a block of ports and returns its first one. This process listens on that port as long as it runs, so
 * the system releases the block even after a crash.
 */
function claimBlock(): number {
  const start = Math.floor(Math.random() * BLOCKS);
  for (let tries = 0; tries < BLOCKS; tries++) {
    const first = FIRST + ((start + tries) % BLOCKS) * BLOCK_PORTS;
    const claim = listenOn(first);
    if (claim === null) continue;
    claim.unref();
    return first;
  }
  throw new Error(`All ${BLOCKS} blocks of ports are claimed: run fewer test processes at once.`);
}

function listenOn(port: number): Bun.TCPSocketListener | null {
  try {
    return Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return null;
    throw error;
  }
}
