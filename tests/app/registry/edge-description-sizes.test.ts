/**
 * Tests that any service description of a few megabytes takes the registry a bounded time, which is split
 * into short steps.
 */
import { describe, expect, test } from "bun:test";
import { edgeDescription, ServiceDescription } from "@ostiary/lib/edge-description";
import { tableOf } from "../../unit/edge-description/build.ts";
import { attacks } from "./edge-description-attacks.ts";

/**
 * The maximum CPU time of all steps, including the runtime's own threads. An idle machine needs a fraction of
 * it.
 */
const ALL_MS = 6_000;
/** The maximum CPU time of one step. */
const STEP_MS = 400;

class CpuTime {
  longestMs = 0;
  allMs = 0;

  take<Result>(steps: Generator<unknown, Result>): Result {
    for (;;) {
      const before = process.cpuUsage();
      const step = steps.next();
      const { user, system } = process.cpuUsage(before);
      const spentMs = (user + system) / 1_000;
      this.allMs += spentMs;
      this.longestMs = Math.max(this.longestMs, spentMs);
      if (step.done) return step.value;
    }
  }
}

describe.each(Object.entries(attacks))("%s", (_, { paths, document, left_out }) => {
  // RG-105
  test("takes a bounded time, and no step is long", () => {
    const routes = paths.map((path) => ({ path, methods: ["GET"] }));
    const sources = tableOf({ widgets: { url: "http://widgets:8080", organization: { routes } } });
    const cpu = new CpuTime();
    const read = cpu.take(ServiceDescription.read(document()));
    const made = cpu.take(
      edgeDescription({
        title: "API",
        serverUrl: undefined,
        ...sources,
        descriptions: new Map([["widgets", { status: "current", description: read, read_at: null }]]),
      }),
    );
    expect(cpu.allMs).toBeLessThan(ALL_MS);
    expect(cpu.longestMs).toBeLessThan(STEP_MS);
    expect((made.get("widgets") ?? 0) > 0).toBe(left_out);
  });
});

test.each<[string, object]>([
  [
    "very many segments",
    Object.fromEntries(
      Array.from({ length: 10_000 }, (_, n) => [
        `/${Array.from({ length: 18 }, (_, k) => `${n}-${k}`).join("/")}`,
        {},
      ]),
    ),
  ],
  [
    "one long reference",
    Object.fromEntries(
      Array.from({ length: 9_000 }, (_, n) => [`/p${n}`, { $ref: `#/${"x/".repeat(1_000)}` }]),
    ),
  ],
])("a document whose paths have %s is refused", (_, paths) => {
  const cpu = new CpuTime();
  expect(() => cpu.take(ServiceDescription.read({ openapi: "3.1.0", paths }))).toThrow("too much work");
  expect(cpu.allMs).toBeLessThan(ALL_MS);
});

test("a path that is longer than any route takes little time", () => {
  const paths = { [`/${"/".repeat(1_000_000)}`]: { get: {} } };
  const cpu = new CpuTime();
  cpu.take(ServiceDescription.read({ openapi: "3.1.0", paths }));
  expect(cpu.longestMs).toBeLessThan(STEP_MS);
});
