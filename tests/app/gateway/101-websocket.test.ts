/** Tests that the gateway forwards the messages and the close of a WebSocket in both directions. */
import { describe, expect, test } from "bun:test";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { startLocalGateway } from "../../support/gateway/gateway.ts";
import { acceptance } from "../../support/gateway/raw-websocket.ts";
import {
  type Client,
  chat,
  MESSAGE_BYTES_MAX,
  type ServiceSocket,
  WebSocketBed,
} from "../../support/gateway/websocket-bed.ts";
import { RawUpstream } from "../../support/http/raw-http.ts";
import { settled, waitFor } from "../../support/index.ts";
import { useBed } from "./bed.ts";

const bed = useBed(new WebSocketBed());

const closedOf = (client: Client) => waitFor(() => client.closed, { what: "the client's WebSocket closing" });

// GW-130
test("text arrives as text and bytes as bytes, both ways, in order", async () => {
  bed.onMessage = (socket, message) => void socket.send(message);
  const client = await bed.connect("/public/a");
  client.socket.send("one");
  client.socket.send(Buffer.from([0, 1, 255]));
  client.socket.send("");
  client.socket.send("zwei €");
  await waitFor(() => client.messages.length === 4);
  expect(client.messages).toEqual(["one", Buffer.from([0, 1, 255]), "", "zwei €"]);
  client.socket.close();
});

// GW-131
describe("when one side closes, so does the other", () => {
  const table: [code: number, reason: string][] = [
    [1000, "done"],
    [4999, "grüße"],
  ];
  test.each(table)("the client, with %i %s", async (code, reason) => {
    const client = await bed.connect("/public/a");
    client.socket.close(code, reason);
    expect(await bed.closedAtService()).toEqual({ code, reason });
  });
  test.each(table)("the service, with %i %s", async (code, reason) => {
    bed.onMessage = (socket) => socket.close(code, reason);
    const client = await bed.connect("/public/a");
    client.socket.send("close");
    expect(await closedOf(client)).toEqual({ code, reason });
  });

  test("the client drops the connection", async () => {
    const client = await bed.connect("/public/a");
    client.socket.terminate();
    expect((await bed.closedAtService()).code).toBe(1001);
  });

  test("the service drops the connection", async () => {
    bed.onMessage = (socket) => socket.terminate();
    const client = await bed.connect("/public/a");
    client.socket.send("break");
    expect((await closedOf(client)).code).toBe(1014);
  });
});

test("messages that the service sends with its acceptance are not lost", async () => {
  const eager = new RawUpstream((request) => `${acceptance(request)}\x81\x05hello\x81\x05again`);
  const routing: StoredServiceConfig = {
    url: eager.url,
    public: { routes: [{ path: "/eager", methods: ["GET"] }] },
  };
  await bed.gateway.publish({ eager: routing });
  for (let attempt = 0; attempt < 5; attempt++) {
    const client = await bed.connect("/eager");
    await waitFor(() => client.messages.length === 2);
    expect(client.messages).toEqual(["hello", "again"]);
    client.socket.terminate();
  }
  eager.close();
});

// GW-87
test("no guarded header reaches the service under a name with underscores", async () => {
  const client = await bed.connect("/public/a", {
    headers: { X_API_Key: "twin", Sec_WebSocket_Key: "twin", X_Custom: "kept" },
  });
  const seen = bed.sockets[0]?.data.headers.toJSON() ?? {};
  expect(Object.values(seen)).not.toContain("twin");
  expect(seen).toMatchObject({ x_custom: "kept" });
  client.socket.close();
});

// GW-132
describe("a message over the limit closes both sides with 1009", () => {
  test("from the client", async () => {
    const client = await bed.connect("/public/a");
    client.socket.send("x".repeat(MESSAGE_BYTES_MAX + 1));
    expect((await closedOf(client)).code).toBe(1009);
    await bed.closedAtService();
  });

  test("from the service", async () => {
    bed.onMessage = (socket) => void socket.send("x".repeat(MESSAGE_BYTES_MAX + 1));
    const client = await bed.connect("/public/a");
    client.socket.send("go");
    expect((await closedOf(client)).code).toBe(1009);
    expect((await bed.closedAtService()).code).toBe(1009);
  });

  test("while one of exactly the limit passes", async () => {
    bed.onMessage = (socket, message) => void socket.send(message);
    const client = await bed.connect("/public/a");
    client.socket.send("x".repeat(MESSAGE_BYTES_MAX));
    await waitFor(() => client.messages.length === 1);
    client.socket.close();
  });
});

// GW-130
describe("backpressure from a slow side stops the other side:", () => {
  const part = Buffer.alloc(100_000);
  /** More parts than the buffers of the gateway and of the kernel hold. */
  const parts = 2_000;

  test("the client", async () => {
    let sent = 0;
    const more = (socket: ServiceSocket) => {
      while (sent < parts) {
        sent += 1;
        if (socket.send(part) < 0) return;
      }
    };
    bed.onMessage = (socket) => more(socket);
    const client = await bed.connect("/public/a");
    client.socket.send("go");
    await waitFor(() => client.messages.length > 0);
    client.socket.pause();
    const feeding = setInterval(() => {
      const socket = bed.sockets[0];
      if (socket !== undefined && socket.getBufferedAmount() === 0) more(socket);
    }, 2);
    expect(await settled(() => sent)).toBeLessThan(parts);
    clearInterval(feeding);
    client.socket.resume();
    await waitFor(() => client.messages.length === sent, { what: "every message to arrive" });
    client.socket.close();
  });

  test("the service", async () => {
    let received = 0;
    let reading = false;
    bed.onMessage = (socket) => {
      received += 1;
      if (!reading) socket.pause();
    };
    const client = await bed.connect("/public/a");
    let sent = 0;
    const feeding = setInterval(() => {
      while (sent < parts && client.socket.bufferedAmount < part.length) {
        sent += 1;
        client.socket.send(part);
      }
    }, 2);
    expect(await settled(() => sent)).toBeLessThan(parts);
    clearInterval(feeding);
    reading = true;
    bed.sockets[0]?.resume();
    await waitFor(() => received === sent, { what: "every message to arrive" });
    client.socket.close();
  });
});

// GW-132
describe("silence", () => {
  test("in both directions closes the WebSocket", async () => {
    const client = await bed.connect("/public/a");
    expect(await closedOf(client)).toEqual({ code: 1001, reason: "idle" });
    expect(await bed.closedAtService()).toEqual({ code: 1001, reason: "idle" });
  });
});

// GW-159
test("a stopping gateway closes WebSockets with 1001", async () => {
  const stopping = await startLocalGateway({ SHUTDOWN_TIMEOUT_MS: "20000" });
  await stopping.publish({ chat: chat(bed.url) });
  const socket = new WebSocket(`${stopping.url.replace("http", "ws")}/public/a`);
  const closed = Promise.withResolvers<number>();
  socket.addEventListener("close", ({ code }) => closed.resolve(code));
  await waitFor(() => socket.readyState === WebSocket.OPEN);
  await stopping.close();
  expect(await closed.promise).toBe(1001);
});
