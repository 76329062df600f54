import { describe, expect, test } from "bun:test";
import { UpstreamCalls } from "../../../../apps/gateway/upstream/call.ts";
import { ResponseRelay } from "../../../../apps/gateway/upstream/response-body.ts";
import { rejection } from "../../../support/index.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const BREAK = new Error("the connection was reset");

/** Relays a body whose chunks arrive one by one. An Error breaks the body off. */
function relaying(...chunks: (string | Promise<string> | Error)[]) {
  const calls = new UpstreamCalls(manualClock());
  const request = new Request("http://gateway.test/");
  const call = calls.begin({ request, server: { timeout: () => {} } });
  const source = {
    async next() {
      const chunk = await chunks.shift();
      if (chunk instanceof Error) throw chunk;
      return chunk === undefined ? undefined : bytes(chunk);
    },
    cancel: () => {},
  };
  return new ResponseRelay(source, call, 1_000, () => {});
}

// GW-117
describe("a look ahead after the first chunk", () => {
  test("rejects if the body has broken off", async () => {
    const relay = relaying("first", BREAK);
    await relay.next();
    expect(await rejection(relay.lookAhead())).toBe(BREAK);
  });

  test("rejects if the body breaks off in this event-loop iteration", async () => {
    const { promise, reject } = Promise.withResolvers<string>();
    const relay = relaying("first", promise);
    await relay.next();
    setImmediate(() => reject(BREAK));
    expect(await rejection(relay.lookAhead())).toBe(BREAK);
  });

  test("loses no chunk", async () => {
    const relay = relaying("first", "second", "third");
    const first = await relay.next();
    await relay.lookAhead();
    expect(await new Response(relay.stream(first ?? bytes(""))).text()).toBe("firstsecondthird");
  });

  test("does not wait for a slow chunk", async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const relay = relaying("first", promise);
    const first = await relay.next();
    await relay.lookAhead();
    const text = new Response(relay.stream(first ?? bytes(""))).text();
    resolve("late");
    expect(await text).toBe("firstlate");
  });
});

// GW-100
describe("a small body of known length", () => {
  test.each([[["abc", "de"]], [["abcde"]]])("is complete: %j", async (chunks) => {
    expect(await relaying(...chunks).whole(5)).toEqual(bytes("abcde"));
  });

  test.each([[["abcd"]], [["abc", "def"]]])("is refused with another length: %j", async (chunks) => {
    expect(await rejection(relaying(...chunks).whole(5))).toMatchObject({ code: "BAD_GATEWAY" });
  });
});
