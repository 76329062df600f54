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

/** Makes a call with the given times only, to endpoints in this order. */
function call(order: Endpoint[], times: Partial<HedgedCall<Endpoint, string>> = {}) {
  const asked: number[] = [];
  const result = hedgedCall({
    timeout_ms: 5_000,
    attempt_ms: FOREVER_MS,
    hedge_ms: FOREVER_MS,
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
  test("calls only the first when it answers", async () => {
    const { asked, result } = call([answers("one"), answers("two")], { hedge_ms: 1_000 });
    expect((await result).value).toBe("one");
    expect(asked).toEqual([0]);
  });

  test("calls the next at once when one fails, and tells which one answered", async () => {
    const last = answers("three");
    const { asked, result } = call([fails("gone"), fails("gone too"), last]);
    expect(await result).toEqual({ value: "three", endpoint: last });
    expect(asked).toEqual([0, 1, 2]);
  });

  test("calls the next as well when one is silent, and takes the first answer", async () => {
    const slow = Promise.withResolvers<string>();
    const { asked, result } = call([() => slow.promise, silent, silent], { hedge_ms: 5 });
    await waitFor(() => asked.length === 3);
    slow.resolve("after all");
    expect((await result).value).toBe("after all");
  });

  test("ends with an error that is an answer", async () => {
    const { asked, result } = call([fails("gone"), denies, answers("three")]);
    expect(await rejection(result)).toBe(answer);
    expect(asked).toEqual([0, 1]);
  });

  test("calls failed ones again, one at a time and in turn, until one answers", async () => {
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
    const { asked, result } = call([silent, flaky, fails("gone")], { hedge_ms: 5 });
    expect((await result).value).toBe("elected");
    expect(asked.filter((index) => index === 0)).toEqual([0]);
    expect(asked.filter((index) => index === 2).length).toBeGreaterThan(1);
  });

  test("ends at once when nothing listens at any of them", async () => {
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

  test("continues while nothing listens at some, and calls those again too", async () => {
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

  test("ends with the last error when its time is over, and makes no call after that", async () => {
    const { asked, result } = call([fails("first"), fails("last")], { timeout_ms: 250 });
    const error = await rejection(result);
    expect(error).toBeInstanceOf(StoreUnavailable);
    expect(error).toMatchObject({ cause: { message: expect.stringMatching(/^first|last$/) } });
    const { length } = asked;
    await Bun.sleep(150); // longer than the pause before the next call
    expect(asked).toHaveLength(length);
  });

  test("reports that none answered, and gives no attempt more time than it has", async () => {
    const clock = manualClock();
    const end = clock.now() + 50;
    const deadlines: number[] = [];
    const never: Endpoint = (deadline) => {
      deadlines.push(deadline);
      return silent(deadline);
    };
    const { result } = call([never], { timeout_ms: 50, clock });
    clock.advance(50);
    expect(await rejection(result)).toMatchObject({ cause: { message: "No answer within 50 ms." } });
    expect(deadlines).toEqual([end]);
  });

  test("may fail late without an effect", async () => {
    const late = Promise.withResolvers<string>();
    const { result } = call([() => late.promise, answers("two")], { hedge_ms: 5 });
    expect((await result).value).toBe("two");
    late.reject(new Error("too late"));
    await Bun.sleep(0);
  });
});
