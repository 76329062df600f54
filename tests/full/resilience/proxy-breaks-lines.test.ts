/** Tests of the proxy in tests/support, which breaks connections: what the client and the server notice. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { listenLocally } from "../../support/http/listen-locally.ts";
import { type Proxy as NetworkProxy, startProxy, waitFor } from "../../support/index.ts";

/** A server that sends back every byte that it receives. */
let server: Server;
let serverUrl: string;
/** The server's sockets. */
let served: Socket[];
let proxy: NetworkProxy;

beforeEach(async () => {
  served = [];
  server = createServer((socket) => {
    served.push(socket);
    socket.on("error", () => {});
    socket.on("data", (chunk) => socket.write(chunk));
  });
  serverUrl = await listen(server);
  proxy = await startProxy(serverUrl);
});
afterEach(async () => {
  await proxy.close();
  for (const socket of served) socket.destroy();
  server.close();
});

async function listen(server: Server): Promise<string> {
  return `http://127.0.0.1:${await listenLocally(server)}`;
}

/** A client of the server. `heard` is the text that it has received. */
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
    return waitFor(() => this.heard === text, { what: `the arrival of ${text.slice(0, 20)}` });
  }
}

async function talking(): Promise<Talk> {
  const talk = new Talk(proxy.url);
  talk.say("hello");
  await talk.hears("hello");
  return talk;
}

/**
 * Expects that a client has received nothing after `heard` and is still connected. First exchanges bytes over
 * another connection, so that a late reply would have arrived.
 */
async function expectSilence(talk: Talk, heard: string): Promise<void> {
  const other = new Talk(serverUrl);
  for (let round = 1; round <= 20; round++) {
    other.say("x");
    await other.hears("x".repeat(round));
  }
  other.socket.destroy();
  expect({ heard: talk.heard, closed: talk.closed }).toEqual({ heard, closed: false });
}

describe("a connection through the proxy", () => {
  test("forwards all bytes in order, and the close", async () => {
    const talk = await talking();
    const much = "0123456789".repeat(500_000);
    talk.say(much);
    await waitFor(() => talk.heard.length === much.length + 5);
    expect(talk.heard).toBe(`hello${much}`);
    served[0]?.end();
    await waitFor(() => talk.closed);
  });

  test("delays bytes in both directions and keeps their order with slow()", async () => {
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

  test("forwards bytes before the close with slow()", async () => {
    const talk = await talking();
    proxy.slow(60);
    served[0]?.end("bye");
    await waitFor(() => talk.closed);
    expect(talk.heard).toBe("hellobye");
  });

  test("forwards neither bytes nor the close with swallow(), and stays silent after heal()", async () => {
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
    await waitFor(() => served[0]?.destroyed, { what: "the server to close its side" });
  });

  test("is closed only on the server's side with forget(), and new connections work", async () => {
    const old = await talking();
    proxy.forget();
    await waitFor(() => served[0]?.destroyed, { what: "the server to close its side" });
    old.say("lost");
    await talking();
    await expectSilence(old, "hello");
  });

  test("is closed with cut(), as is every new connection until heal()", async () => {
    const old = await talking();
    proxy.cut();
    await waitFor(() => old.closed);
    const young = new Talk(proxy.url);
    await waitFor(() => young.closed);
    proxy.heal();
    await talking();
  });

  test("can have a different target for each connection", async () => {
    const other = createServer((socket) => socket.end("other"));
    const targets = [serverUrl, await listen(other)];
    let turn = 0;
    const balanced = await startProxy(() => targets[turn++ % 2] ?? "");
    // The proxy also asks for a target when it starts, so each connection may get either target.
    const talks = [new Talk(balanced.url), new Talk(balanced.url)];
    await waitFor(() => talks.some(({ heard }) => heard === "other"));
    for (const talk of talks) if (!talk.closed) talk.say("hello");
    await waitFor(() => talks.some(({ heard }) => heard === "hello"));
    await balanced.close();
    other.close();
  });
});
