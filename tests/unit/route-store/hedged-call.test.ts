import { describe, expect, test } from "bun:test";
import { StoreUnavailable } from "@ostiary/lib/runtime/stores/route-store";
import {
  type HedgedCall,
  hedgedCall,
  type Verdict,
} from "../../../lib/runtime/stores/route-store/hedged-call.ts";
import { rejection, waitFor } from "../../support/index.ts";
import { manualClock } from "../../support/manual-clock.ts";

const FOREVER_MS = 1_000_000;
const answer = new Error("Permission denied.");
const refusal = new Error("Connection refused.");
const verdicts = new Map<Error, Verdict>([
  [answer, "answered"],
  [refusal, "refused"],
]);

type Endpoint = (deadline: number) => Promise<string>;
const answers =
  (text: string): Endpoint =>
  async () =>
    text;
const fails =
  (message: string): Endpoint =>
  () =>
    Promise.reject(new Error(message));
const denies: Endpoint = () => Promise.reject(answer);
const refuses: Endpoint = () => Promise.reject(refusal);
const silent: Endpoint = () => new Promise(() => {});

/** Makes a call to the endpoints in this order. By default, no attempt times out and no hedge is sent. */
function call(order: Endpoint[], times: Partial<HedgedCall<Endpoint, string>> = {}) {
  const asked: number[] = [];
  const result = hedgedCall({
    timeoutMs: 5_000,
    attemptMs: FOREVER_MS,
    hedgeMs: FOREVER_MS,
    order,
    attempt: (endpoint, deadline) => {
      asked.push(order.indexOf(endpoint));
      return endpoint(deadline);
    },
    verdictOn: (error) => verdicts.get(error) ?? "unanswered",
    ...times,
  });
  return { asked, result };
}

describe("a call to several endpoints", () => {
  test("calls only the first endpoint if it responds", async () => {
    const { asked, result } = call([answers("one"), answers("two")], { hedgeMs: 1_000 });
    expect((await result).value).toBe("one");
    expect(asked).toEqual([0]);
  });

  test("calls the next endpoint at once when one fails, and returns the endpoint that responded", async () => {
    const last = answers("three");
    const { asked, result } = call([fails("gone"), fails("gone too"), last]);
    expect(await result).toEqual({ value: "three", endpoint: last });
    expect(asked).toEqual([0, 1, 2]);
  });

  test("also calls the next endpoint when one does not respond, and uses the first response", async () => {
    const slow = Promise.withResolvers<string>();
    const { asked, result } = call([() => slow.promise, silent, silent], { hedgeMs: 5 });
    await waitFor(() => asked.length === 3);
    slow.resolve("after all");
    expect((await result).value).toBe("after all");
  });

  test("ends with an error that an endpoint returns", async () => {
    const { asked, result } = call([fails("gone"), denies, answers("three")]);
    expect(await rejection(result)).toBe(answer);
    expect(asked).toEqual([0, 1]);
  });

  test("retries failed endpoints in order, one at a time, until one responds", async () => {
    let failures = 0;
    let open = 0;
    const flaky: Endpoint = async () => {
      open += 1;
      expect(open).toBe(1);
      await Bun.sleep(1);
      open -= 1;
      failures += 1;
      if (failures < 4) throw new Error("no leader");
      return "elected";
    };
    const { asked, result } = call([silent, flaky, fails("gone")], { hedgeMs: 5 });
    expect((await result).value).toBe("elected");
    expect(asked.filter((index) => index === 0)).toEqual([0]);
    expect(asked.filter((index) => index === 2).length).toBeGreaterThan(1);
  });

  test("ends at once when all endpoints refuse the connection", async () => {
    const { asked, result } = call(
      [refuses, refuses, refuses].map(
        (each): Endpoint =>
          (deadline) =>
            each(deadline),
      ),
    );
    expect(await rejection(result)).toMatchObject({ name: "StoreUnavailable", cause: refusal });
    expect(asked).toEqual([0, 1, 2]);
  });

  test("continues when only some endpoints refuse the connection, and retries those too", async () => {
    let failures = 0;
    const flaky: Endpoint = async () => {
      failures += 1;
      if (failures < 3) throw new Error("no leader");
      return "elected";
    };
    const { asked, result } = call([refuses, flaky]);
    expect((await result).value).toBe("elected");
    expect(asked.filter((index) => index === 0).length).toBeGreaterThan(1);
  });

  test("ends with the last error when its time is over, and makes no attempt after that", async () => {
    const { asked, result } = call([fails("first"), fails("last")], { timeoutMs: 250 });
    const error = await rejection(result);
    expect(error).toBeInstanceOf(StoreUnavailable);
    expect(error).toMatchObject({ cause: { message: expect.stringMatching(/^first|last$/) } });
    const { length } = asked;
    // The sleep is longer than the pause between two attempts, so a further attempt would be recorded.
    await Bun.sleep(150);
    expect(asked).toHaveLength(length);
  });

  test("reports that no endpoint responded, and gives an attempt only the remaining time", async () => {
    const clock = manualClock();
    const end = clock.now() + 50;
    const deadlines: number[] = [];
    const never: Endpoint = (deadline) => {
      deadlines.push(deadline);
      return silent(deadline);
    };
    const { result } = call([never], { timeoutMs: 50, clock });
    clock.advance(50);
    expect(await rejection(result)).toMatchObject({ cause: { message: "No answer within 50 ms." } });
    expect(deadlines).toEqual([end]);
  });

  test.each([-1, 1])("gives a later attempt its time even if the clock was set by %d h", async (hours) => {
    const clock = manualClock();
    const times: number[] = [];
    const never: Endpoint = (deadline) => {
      times.push(deadline - clock.now());
      return silent(deadline);
    };
    const { result } = call([never, never], { timeoutMs: 5_000, attemptMs: 4_500, hedgeMs: 1_000, clock });
    clock.set(clock.now() + hours * 3_600_000);
    clock.advance(1_000);
    expect(times).toEqual([4_500, 4_000]);
    clock.advance(4_000);
    expect(await rejection(result)).toBeInstanceOf(StoreUnavailable);
  });

  test("ignores an attempt that fails after the call has ended", async () => {
    const late = Promise.withResolvers<string>();
    const { result } = call([() => late.promise, answers("two")], { hedgeMs: 5 });
    expect((await result).value).toBe("two");
    late.reject(new Error("too late"));
    await Bun.sleep(0);
  });
});
