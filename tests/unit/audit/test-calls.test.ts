import { describe, expect, test } from "bun:test";
import { TestCalls } from "../../../apps/audit/streams/test-calls.ts";
import { rejection } from "../../support/rejection.ts";

const TOO_MANY = {
  code: "RATE_LIMITED",
  message: "Too many test calls are running. Try again in a moment.",
  details: { retry_after_seconds: 10 },
  headers: { "Retry-After": "10" },
};

// AU-99
describe("a test call beyond the limit", () => {
  test("of its organization gets a 429, and other organizations can test their streams", async () => {
    const calls = new TestCalls();
    const { promise, resolve } = Promise.withResolvers<string>();
    const running = Array.from({ length: 2 }, () => calls.run("slow", () => promise));
    for (let n = 0; n < 20; n++) {
      expect(await rejection(calls.run("slow", () => promise))).toMatchObject(TOO_MANY);
    }
    expect(await calls.run("other", async () => "next")).toBe("next");
    resolve("done");
    expect(await Promise.all(running)).toEqual(["done", "done"]);
    expect(await calls.run("slow", async () => "next")).toBe("next");
  });

  test("of the process gets a 429", async () => {
    const calls = new TestCalls();
    const { promise, resolve } = Promise.withResolvers<string>();
    const running = Array.from({ length: 100 }, (_, n) => calls.run(`organization-${n}`, () => promise));
    expect(await rejection(calls.run("other", () => promise))).toMatchObject(TOO_MANY);
    resolve("done");
    await Promise.all(running);
    expect(await calls.run("other", async () => "next")).toBe("next");
  });

  test("is counted no longer when a call failed", async () => {
    const calls = new TestCalls();
    for (let n = 0; n < 3; n++) {
      const failed = await rejection(calls.run("a", () => Promise.reject(new Error("away"))));
      expect(String(failed)).toBe("Error: away");
    }
  });
});
