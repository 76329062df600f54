import { expect, test } from "bun:test";
import { TestCalls } from "../../../apps/audit/streams/test-calls.ts";

// AU-99
test("the eleventh concurrent test call gets a 429 that says when to retry", async () => {
  const calls = new TestCalls();
  const { promise, resolve } = Promise.withResolvers<string>();
  const running = Array.from({ length: 10 }, () => calls.run(() => promise));
  const refused = await calls.run(() => promise).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: "RATE_LIMITED",
    message: "Too many test calls are running. Try again in a moment.",
    details: { retry_after_seconds: 10 },
    headers: { "Retry-After": "10" },
  });
  resolve("done");
  expect(new Set(await Promise.all(running))).toEqual(new Set(["done"]));
  expect(await calls.run(async () => "next")).toBe("next");
});
