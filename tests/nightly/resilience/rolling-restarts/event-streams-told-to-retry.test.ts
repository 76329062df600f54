import { afterAll, afterEach, describe, expect, test } from "bun:test";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { startGateway } from "../../../support/gateway/gateway-process.ts";
import { RawClient, type RawSocket, RawUpstream, spell } from "../../../support/http/raw-http.ts";
import { type RunningProcess, services, waitFor } from "../../../support/index.ts";

const TIMEOUT_MS = 4_000;
const head = (type: string, more = "") =>
  `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\n${more}Connection: close\r\n\r\n`;
const EVENTS = head("text/event-stream; charset=utf-8");
/** The comment with which a gateway opens each event stream. */
const OPENED = ":\n";
/** Matches the retry field with which a stopping gateway ends an event stream. */
const RETRY = /retry: (\d+)\n\n$/;

// GW-159
describe.skipIf(!services().etcd.real)("a gateway that stops", () => {
  const sockets = new Map<string, RawSocket>();
  const service = new RawUpstream(({ target }, socket) => {
    sockets.set(target, socket);
    return null;
  });
  let gateway: RunningProcess | undefined;

  afterAll(() => service.close());
  afterEach(async () => {
    await gateway?.kill();
    sockets.clear();
  });

  async function start(): Promise<RunningProcess> {
    const things: StoredServiceConfig = {
      url: service.url,
      public: { routes: [{ path: "/events", methods: ["GET"] }] },
    };
    gateway = await startGateway({
      services: { things },
      env: { SHUTDOWN_GRACE_MS: "300", SHUTDOWN_TIMEOUT_MS: String(TIMEOUT_MS) },
    });
    return gateway;
  }

  /** Opens a stream through the gateway. The service sends the head `start` and then `said`. */
  async function open(name: string, said: string | Uint8Array, start = EVENTS) {
    if (gateway === undefined) throw new Error("No gateway is running.");
    const client = await RawClient.connect(gateway.url);
    const target = `/events?${name}`;
    client.send(spell("GET", target));
    const socket = await waitFor(() => sockets.get(target), { what: `the call of ${target}` });
    socket.send(start);
    socket.send(said);
    return { client, socket };
  }

  const has = (client: RawClient, text: string) =>
    client.until(() => client.bodySoFar().includes(text) || null, JSON.stringify(text));

  async function stopped(): Promise<number> {
    const code = await gateway?.stop();
    return code ?? -1;
  }

  const draining = ({ internalUrl }: RunningProcess) =>
    waitFor(async () => (await fetch(`${internalUrl}/health/ready`)).status === 503);

  /** Waits until the gateway's port is closed. From then on, the gateway ends streams as soon as it can. */
  const closed = ({ url }: RunningProcess) =>
    waitFor(async () => {
      const isUp = await fetch(url).then(
        () => true,
        () => false,
      );
      return !isUp;
    });

  test("ends streams between two events at once with a retry time, whatever their line endings", async () => {
    await start();
    const said = {
      lf: "data: one\n\n",
      crlf: "data: one\r\n\r\n",
      cr: "data: one\r\r",
      mixed: "data: one\r\n\r",
      comments: "data: one\n\n: still here\n\n",
      silent: "",
    };
    const clients = await Promise.all(
      Object.entries(said).map(async ([name, text]) => ({ text, ...(await open(name, text)) })),
    );
    for (const { client, text } of clients) await has(client, OPENED + text);
    const began = performance.now();
    const stopping = stopped();
    for (const { client, text } of clients) {
      const response = await client.response();
      const body = response.body.toString();
      expect(body).toStartWith(OPENED + text);
      expect(body.slice(OPENED.length + text.length)).toMatch(RETRY);
      expect([response.framing, response.complete]).toEqual(["chunked", true]);
      const retryMs = Number(RETRY.exec(body)?.[1]);
      expect(retryMs).toBeGreaterThanOrEqual(500);
      expect(retryMs).toBeLessThanOrEqual(2_500);
    }
    expect(await stopping).toBe(0);
    expect(performance.now() - began).toBeLessThan(TIMEOUT_MS);
    expect(gateway?.stderr).toEqual([]);
  });

  test("waits for a client that reads slowly, but only until its timeout for one that does not read", async () => {
    const running = await start();
    const event = `data: ${"x".repeat(1_000)}\n\n`;
    const many = event.repeat(40_000);
    const slow = await open("slow", "");
    await has(slow.client, OPENED);
    slow.client.pause();
    slow.socket.send(many);
    const stuck = await open("stuck", "");
    await has(stuck.client, OPENED);
    stuck.client.pause();
    stuck.socket.send(many);
    await waitFor(() => !slow.socket.flushed && !stuck.socket.flushed);
    const stopping = stopped();
    await draining(running);
    await closed(running);
    slow.client.resume();
    const { body, complete } = await slow.client.response();
    const text = body.toString();
    expect(complete).toBe(true);
    expect(text).toMatch(RETRY);
    const events = text.slice(OPENED.length).replace(RETRY, "");
    expect(events.length % event.length).toBe(0);
    expect(events.replaceAll(event, "")).toBe("");
    expect(await stopping).toBe(0);
    stuck.client.destroy();
  });
});
