import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { type Proxy as NetworkProxy, startProxy, waitFor } from "../support/index.ts";

/** The effect of a line's faults on its two sides; each answers what it is told. */
let server: Server;
let served: Socket[];
let proxy: NetworkProxy;

beforeEach(async () => {
  served = [];
  server = createServer((socket) => {
    served.push(socket);
    socket.on("error", () => {});
    socket.on("data", (chunk) => socket.write(chunk));
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  proxy = await startProxy(urlOf(server));
});
afterEach(async () => {
  await proxy.close();
  for (const socket of served) socket.destroy();
  server.close();
});

function urlOf(listening: Server): string {
  const address = listening.address();
  if (address === null || typeof address === "string") throw new Error("No port was bound.");
  return `http://127.0.0.1:${address.port}`;
}

/** A client, with what it has received. */
class Talk {
  heard = "";
  closed = false;
  readonly socket: Socket;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.socket = createConnection({ host: hostname, port: Number(port) });
    this.socket.on("error", () => {});
    this.socket.on("data", (chunk) => {
      this.heard += chunk;
    });
    this.socket.on("close", () => {
      this.closed = true;
    });
  }

  say(text: string): void {
    this.socket.write(text);
  }

  hears(text: string): Promise<unknown> {
    return waitFor(() => this.heard === text, { what: `Hearing ${text.slice(0, 20)}` });
  }
}

async function talking(): Promise<Talk> {
  const talk = new Talk(proxy.url);
  talk.say("hello");
  await talk.hears("hello");
  return talk;
}

/** Expects silence, after later bytes over another line have been answered. */
async function expectSilence(talk: Talk, heard: string): Promise<void> {
  const other = new Talk(urlOf(server));
  for (let round = 1; round <= 20; round++) {
    other.say("x");
    await other.hears("x".repeat(round));
  }
  other.socket.destroy();
  expect({ heard: talk.heard, closed: talk.closed }).toEqual({ heard, closed: false });
}

describe("a line", () => {
  test("passes bytes on in order, however many, and the end", async () => {
    const talk = await talking();
    const much = "0123456789".repeat(500_000);
    talk.say(much);
    await waitFor(() => talk.heard.length === much.length + 5);
    expect(talk.heard).toBe(`hello${much}`);
    served[0]?.end();
    await waitFor(() => talk.closed);
  });

  test("that is slow delays by its latency, both ways, keeps the order, and then is fast again", async () => {
    const talk = await talking();
    proxy.slow(60);
    const before = performance.now();
    talk.say("a");
    talk.say("b");
    await talk.hears("helloab");
    expect(performance.now() - before).toBeGreaterThanOrEqual(115);
    talk.say("c");
    proxy.heal();
    talk.say("d");
    await talk.hears("helloabcd");
  });

  test("that is slow still passes bytes on that were sent before its end", async () => {
    const talk = await talking();
    proxy.slow(60);
    served[0]?.end("bye");
    await waitFor(() => talk.closed);
    expect(talk.heard).toBe("hellobye");
  });

  test("that swallows is silent for old and new connections, passes no end on, and stays silent for the old", async () => {
    const old = await talking();
    proxy.swallow();
    const young = new Talk(proxy.url);
    for (const talk of [old, young]) talk.say("lost");
    served[0]?.end("bye");
    await expectSilence(old, "hello");
    await expectSilence(young, "");
    proxy.heal();
    for (const talk of [old, young]) talk.say("lost too");
    await talking();
    await expectSilence(old, "hello");
    await expectSilence(young, "");
    await waitFor(() => served[0]?.destroyed, { what: "The server learning of the loss" });
  });

  test("that forgets ends the server's side, leaves the client's open, and accepts new ones", async () => {
    const old = await talking();
    proxy.forget();
    await waitFor(() => served[0]?.destroyed, { what: "The server's end closing" });
    old.say("lost");
    await talking();
    await expectSilence(old, "hello");
  });

  test("that is cut ends all, accepts none, and accepts some again once it is healed", async () => {
    const old = await talking();
    proxy.cut();
    await waitFor(() => old.closed);
    const young = new Talk(proxy.url);
    await waitFor(() => young.closed);
    proxy.heal();
    await talking();
  });

  test("may lead each connection to another target", async () => {
    const other = createServer((socket) => socket.end("other"));
    const listening = Promise.withResolvers<void>();
    other.listen(0, "127.0.0.1", listening.resolve);
    await listening.promise;
    const targets = [urlOf(server), urlOf(other)];
    let turn = 0;
    const balanced = await startProxy(() => targets[turn++ % 2] ?? "");
    // The target of the first one was chosen when the proxy started.
    const talks = [new Talk(balanced.url), new Talk(balanced.url)];
    await waitFor(() => talks.some(({ heard }) => heard === "other"));
    for (const talk of talks) if (!talk.closed) talk.say("hello");
    await waitFor(() => talks.some(({ heard }) => heard === "hello"));
    await balanced.close();
    other.close();
  });
});
