/** Tests of the program in audit-to-siem.md, with a stand-in for Splunk's HTTP Event Collector. */
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { commandsOf } from "../../../support/documents/documents.ts";
import { Reader, withNodeOrBun } from "../../../support/documents/guide-reader.ts";
import { type Stack, startStack } from "../../../support/processes/stack.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { newSession } from "./caller.ts";

setDefaultTimeout(120_000);

const GUIDE = ".github/guides/audit-to-siem.md";

interface Delivered {
  time: number;
  event: { id: string; outcome: string; occurred_at: string };
}

let stack: Stack;
let reader: Reader;
let session: string;
let ship: string;
let collector: ReturnType<typeof Bun.serve>;
let received: Delivered[] = [];
let refusals = 0;

beforeAll(async () => {
  stack = await startStack();
  collector = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: take });
  session = await newSession(stack, "siem");
  reader = await Reader.open({
    GATEWAY: stack.gateway.url,
    SESSION: session,
    SPLUNK_URL: `http://127.0.0.1:${collector.port}`,
    SPLUNK_TOKEN: "hec-token",
  });
  await reader.runAll(await commandsOf(GUIDE, "A credential that may read the log and nothing else"));
  const [program = "", run = ""] = await commandsOf(GUIDE, "The program");
  await reader.run(program);
  ship = withNodeOrBun(run);
});
beforeEach(async () => {
  received = [];
  refusals = 0;
  await rm(join(reader.directory, "siem-state.json"), { force: true });
});
afterAll(async () => {
  await Promise.all([stack?.close(), collector?.stop(true)]);
});

/** Handles a request as the HTTP Event Collector does. The body is a sequence of JSON objects. */
async function take(request: Request): Promise<Response> {
  if (refusals > 0) {
    refusals -= 1;
    return Response.json({ text: "Server is busy", code: 9 }, { status: 503 });
  }
  if (new URL(request.url).pathname !== "/services/collector/event")
    return new Response(null, { status: 404 });
  if (request.headers.get("authorization") !== "Splunk hec-token") return new Response(null, { status: 401 });
  received.push(...(await request.text()).split("\n").map((line) => JSON.parse(line)));
  return Response.json({ text: "Success", code: 0 });
}

/** Sends `count` audited requests, and waits until the log has their outcomes. */
async function writes(count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const url = `${stack.gateway.url}/demo/things/${n}`;
    expect((await fetch(url, { method: "PUT", headers: { "X-API-Key": session } })).status).toBe(200);
  }
  await waitFor(async () => (await log()).every(({ outcome }) => outcome !== "pending"), {
    what: "the outcomes",
  });
}

/** Returns the events of the log, oldest first. */
async function log(): Promise<Delivered["event"][]> {
  const url = `${stack.gateway.url}/org/audit-events?limit=100`;
  const page = await (await fetch(url, { headers: { "X-API-Key": session } })).text();
  return JSON.parse(page).audit_events.toReversed();
}

const ids = (events: { id: string }[]) => events.map(({ id }) => id);
const delivered = () => ids(received.map(({ event }) => event));

describe("the program of audit-to-siem.md", () => {
  test("sends the whole log first, and then only new events, in the order of the log", async () => {
    await writes(3);
    await reader.run(ship);
    expect(delivered()).toEqual(ids(await log()));
    expect(received.map(({ time, event }) => time * 1000 - Date.parse(event.occurred_at))).toSatisfy((all) =>
      all.every((difference: number) => Math.abs(difference) < 1),
    );
    const before = received.length;
    await reader.run(ship);
    expect(received).toHaveLength(before);
    await writes(2);
    await reader.run(ship);
    expect(delivered()).toEqual(ids(await log()));
  });

  test("sends refused events again, and no accepted event twice", async () => {
    await writes(1);
    refusals = 1;
    await expect(reader.run(ship)).rejects.toThrow("Splunk answered 503");
    expect(received).toEqual([]);
    await reader.run(ship);
    expect(delivered()).toEqual(ids(await log()));
  });

  test("holds back a pending event until it has its outcome", async () => {
    await writes(1);
    const hanging = new AbortController();
    // The request body never ends, so the event stays pending until the request is aborted.
    const stream = fetch(`${stack.gateway.url}/demo/things/stream`, {
      method: "PUT",
      headers: { "X-API-Key": session },
      body: new ReadableStream({
        async pull(controller) {
          controller.enqueue(new Uint8Array(1));
          await Bun.sleep(50);
        },
      }),
      signal: hanging.signal,
    }).catch(() => undefined);
    await waitFor(async () => (await log()).some(({ outcome }) => outcome === "pending"), {
      what: "the intent",
    });
    await reader.run(ship);
    const pending = (await log()).find(({ outcome }) => outcome === "pending");
    expect(delivered()).not.toContain(pending?.id);
    hanging.abort();
    await stream;
    await waitFor(async () => (await log()).every(({ outcome }) => outcome !== "pending"), {
      what: "the outcome",
    });
    await reader.run(ship);
    expect(delivered().toSorted()).toEqual(ids(await log()).toSorted());
  });

  test("prints one line for each event when SPLUNK_URL is not set", async () => {
    await writes(1);
    const printed = await reader.run(`unset SPLUNK_URL\n${ship}`);
    expect(
      printed
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).id),
    ).toEqual(ids(await log()));
  });

  test("keeps its state when its key is refused", async () => {
    await writes(1);
    await reader.run(ship);
    const state = await Bun.file(join(reader.directory, "siem-state.json")).text();
    const key = await Bun.file(join(reader.directory, "siem-key")).text();
    await Bun.write(join(reader.directory, "siem-key"), "acme-k-2-wrong");
    await expect(reader.run(ship)).rejects.toThrow("401");
    await Bun.write(join(reader.directory, "siem-key"), key);
    expect(await Bun.file(join(reader.directory, "siem-state.json")).text()).toBe(state);
  });
});
