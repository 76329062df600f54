import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Gateway } from "../../../apps/portal/page/gateway.ts";

/** The calls of the portal's page, with a network and a clock of the test. */

type Sent = { address: string; request: RequestInit };

function gatewayWith(
  answers: (() => Response | Promise<Response>)[],
  sleep = async (_ms: number, _signal?: AbortSignal) => {},
) {
  const sent: Sent[] = [];
  const asked: boolean[] = [];
  const slept: number[] = [];
  const gateway = new Gateway(
    {
      headers: async (_caller, renewed) => {
        asked.push(renewed);
        return { ok: true, value: { "X-API-Key": renewed ? "new" : "old" } };
      },
    },
    {
      fetch: async (address, request) => {
        request.signal?.throwIfAborted();
        sent.push({ address, request });
        const answer = answers[sent.length - 1];
        if (answer === undefined) throw new Error("No further call was expected.");
        return answer();
      },
      now: () => 0,
      sleep: (ms, signal) => {
        slept.push(ms);
        return sleep(ms, signal);
      },
    },
  );
  return { gateway, sent, asked, slept };
}

const limited = (seconds: number) => () =>
  new Response("{}", { status: 429, headers: { "Retry-After": String(seconds), "X-RateLimit-Limit": "3" } });
const fine = () => Response.json({ done: true });
const Done = Type.Object({ done: Type.Boolean() });

describe("a call of the page", () => {
  // PT-30
  test("waits for a limit as long as Retry-After says, and each attempt has its own time", async () => {
    const { gateway, sent, slept } = gatewayWith([limited(2), limited(60), fine]);
    expect(await gateway.send(Done, "/org", { as: "member" })).toEqual({ ok: true, value: { done: true } });
    expect(slept).toEqual([2_000, 60_000]);
    const signals = sent.map(({ request }) => request.signal);
    expect(new Set(signals).size).toBe(3);
    expect(gateway.waiting.value).toBeNull();
  });

  // PT-30
  test.each([
    ["a fourth limit in a row", [limited(1), limited(1), limited(1), limited(1)], 3],
    ["a limit of more than a minute", [limited(61)], 0],
  ])("does not wait for %s", async (_, answers, waits) => {
    const { gateway, slept } = gatewayWith(answers);
    const answer = await gateway.send(Done, "/org", { as: "member" });
    expect(answer).toMatchObject({ ok: false, failure: { status: 429 } });
    expect(slept).toHaveLength(waits);
  });
});

describe("an exchange", () => {
  // PT-44
  test("returns errors and long limits as they are, sends the given body, and follows no redirect", async () => {
    const { gateway, sent } = gatewayWith([limited(61)]);
    const content = { type: "text/csv", text: "a,b" };
    const answer = await gateway.exchange("/x", { as: "member", method: "POST", content });
    expect(answer.ok && answer.value.status).toBe(429);
    expect(sent[0]?.request).toMatchObject({
      method: "POST",
      body: "a,b",
      redirect: "manual",
      headers: { "Content-Type": "text/csv", "X-API-Key": "old" },
    });
  });

  // PT-44
  test("renews a refused credential once", async () => {
    const refused = () => new Response("{}", { status: 401 });
    const { gateway, asked } = gatewayWith([refused, refused]);
    const answer = await gateway.exchange("/x", { as: "member" });
    expect(answer.ok && answer.value.status).toBe(401);
    expect(asked).toEqual([false, true]);
  });

  // PT-44
  test("that is stopped while it waits for a limit sends nothing more", async () => {
    const stop = new AbortController();
    const { gateway, sent } = gatewayWith([limited(60)], async (_ms, signal) => {
      stop.abort();
      expect(signal?.aborted).toBe(true);
    });
    const answer = await gateway.exchange("/x", { as: "member", method: "DELETE", signal: stop.signal });
    expect(answer).toMatchObject({ ok: false, failure: { outcome_unknown: true } });
    expect(sent).toHaveLength(1);
    expect(gateway.waiting.value).toBeNull();
  });

  // PT-31
  test("is sent once when no answer comes", async () => {
    const { gateway, sent } = gatewayWith([() => Promise.reject(new Error("reset"))]);
    expect(await gateway.exchange("/x", { as: "member", method: "POST" })).toMatchObject({
      ok: false,
      failure: { kind: "away", outcome_unknown: true },
    });
    expect(sent).toHaveLength(1);
  });
});
