import { expect, test } from "bun:test";
import { readWhatCame } from "@ostiary/lib/runtime/service";
import { RawClient, spell } from "../../support/raw-http.ts";

/** A port is closed at a moment without new bytes: earlier requests are answered. */

function serve() {
  return Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, fetch: () => new Response("ok") });
}

/** Keeps the event loop busy, so that no turn is short. */
function keepBusy(turn_ms: number): () => void {
  let done = false;
  const work = () => {
    const until = performance.now() + turn_ms;
    while (performance.now() < until);
    if (!done) setImmediate(work);
  };
  setImmediate(work);
  return () => {
    done = true;
  };
}

async function answersAfter(before: () => Promise<void>): Promise<number[]> {
  const server = serve();
  const clients = await Promise.all(Array.from({ length: 50 }, () => RawClient.connect(server.url.href)));
  for (const client of clients) client.send(spell("GET", "/"));
  await before();
  const stopped = server.stop();
  const answers = await Promise.all(clients.map((client) => client.response().catch(() => null)));
  for (const client of clients) client.destroy();
  await stopped;
  return answers.map((answer) => answer?.status ?? 0);
}

const all = Array.from({ length: 50 }, () => 200);

test("requests that arrived and are unread are answered, although the port is closed then", async () => {
  expect(await answersAfter(readWhatCame)).toEqual(all);
});

test("so are they when the process is never quiet, which the stop does not wait for", async () => {
  const rest = keepBusy(1);
  expect(await answersAfter(readWhatCame)).toEqual(all);
  rest();
});

test("so are they when one turn takes longer than the whole wait", async () => {
  const rest = keepBusy(300);
  expect(await answersAfter(readWhatCame)).toEqual(all);
  rest();
});
