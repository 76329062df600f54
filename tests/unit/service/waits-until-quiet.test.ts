/** Tests that requests that arrived before a port closes get a response. */
import { expect, test } from "bun:test";
import { waitUntilQuiet } from "@ostiary/lib/runtime/service";
import { RawClient, spell } from "../../support/http/raw-http.ts";

function serve() {
  return Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, fetch: () => new Response("ok") });
}

/** Makes each event-loop iteration take at least `turnMs`. Returns a function that ends this. */
function keepBusy(turnMs: number): () => void {
  let done = false;
  const work = () => {
    const until = performance.now() + turnMs;
    while (performance.now() < until);
    if (!done) setImmediate(work);
  };
  setImmediate(work);
  return () => {
    done = true;
  };
}

async function statusesAfter(before: () => Promise<void>): Promise<number[]> {
  const server = serve();
  const clients = await Promise.all(Array.from({ length: 50 }, () => RawClient.connect(server.url.href)));
  for (const client of clients) client.send(spell("GET", "/"));
  await before();
  const stopped = server.stop();
  const responses = await Promise.all(clients.map((client) => client.response().catch(() => null)));
  for (const client of clients) client.destroy();
  await stopped;
  return responses.map((response) => response?.status ?? 0);
}

const all = Array.from({ length: 50 }, () => 200);

test("unread requests get a response even if the event loop is always busy", async () => {
  const rest = keepBusy(1);
  expect(await statusesAfter(waitUntilQuiet)).toEqual(all);
  rest();
});

test("unread requests get a response even if one event-loop iteration takes longer than the whole wait", async () => {
  const rest = keepBusy(300);
  expect(await statusesAfter(waitUntilQuiet)).toEqual(all);
  rest();
});
