import { describe, expect, test } from "bun:test";
import { readinessProbe } from "@ostiary/lib/runtime/http";
import type { Logger } from "@ostiary/lib/runtime/telemetry";

/** Returns the readiness of a service with two checks. The test can replace their `results`. */
function probed() {
  const lines: string[] = [];
  const at = (level: string) => (fields: object, message: string) => {
    lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  };
  const log: Logger = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const state = { draining: false };
  const results: Record<"a" | "b", () => Promise<void>> = { a: holds, b: holds };
  const probe = readinessProbe({ a: () => results.a(), b: () => results.b() }, state, log);
  return { probe, results, state, lines };
}

const holds = async () => {};
const fails = async () => {
  throw new Error("connect to postgres://user:secret@host");
};

describe("readiness", () => {
  test("logs nothing if it does not change", async () => {
    const { probe, lines } = probed();
    for (let n = 0; n < 5; n++) expect(await probe()).toBeNull();
    expect(lines).toEqual([]);
  });

  test("logs each change once, with the state of each check and without the error", async () => {
    const { probe, results, lines } = probed();
    results.a = fails;
    for (let n = 0; n < 3; n++) expect(await probe()).toEqual({ a: "unavailable", b: "ok" });
    results.b = fails;
    await probe();
    Object.assign(results, { a: holds, b: holds });
    for (let n = 0; n < 3; n++) expect(await probe()).toBeNull();
    expect(lines).toEqual([
      'warn not ready {"checks":{"a":"unavailable","b":"ok"}}',
      'warn not ready {"checks":{"a":"unavailable","b":"unavailable"}}',
      "info ready again {}",
    ]);
  });

  test("is not logged for a slow probe that ends after a later probe", async () => {
    const { probe, results, lines } = probed();
    const slow = Promise.withResolvers<void>();
    results.a = () => slow.promise;
    const early = probe();
    results.a = holds;
    expect(await probe()).toBeNull();
    slow.reject(new Error("no response within 2000 ms"));
    expect(await early).toEqual({ a: "unavailable", b: "ok" });
    expect(await probe()).toBeNull();
    expect(lines).toEqual([]);
  });

  test("runs no check and logs no warning while the service drains", async () => {
    const { probe, results, state, lines } = probed();
    state.draining = true;
    results.a = fails;
    for (let n = 0; n < 3; n++) expect(await probe()).toEqual({ service: "shutting down" });
    expect(lines).toEqual(['info not ready {"checks":{"service":"shutting down"}}']);
  });
});
