import { afterAll, afterEach, beforeAll } from "bun:test";
import { standInFor } from "../../support/during-tests.ts";
import { type TestServer, waitFor } from "../../support/index.ts";

interface Store {
  ping(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts a server that the tests of a `describe` may break, and opens a store on it. After each test, the server
 * recovers, and `returns` waits until the store responds.
 */
export function useBreakable<Opened extends Store>(
  start: () => Promise<TestServer>,
  open: (url: string) => Promise<Opened>,
  ask: (store: Opened) => Promise<unknown> = (store) => store.ping(500),
) {
  let running: { server: TestServer; store: Opened } | undefined;
  const server = standInFor(() => running?.server);
  const store = standInFor(() => running?.store);
  const returns = () => waitFor(() => ask(store).then(() => true), { what: "the store's return" });

  beforeAll(async () => {
    const started = await start();
    running = { server: started, store: await open(started.url) };
    await store.ping(2_000);
  });
  afterEach(async () => {
    await server.recover();
    await returns();
  });
  afterAll(async () => {
    await store.close();
    await server.close();
  });
  return { server, store, returns };
}
