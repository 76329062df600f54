/** Tests that a service's description of a few megabytes takes bounded work in short steps, and adds a bounded size. */
import { describe, expect, test } from "bun:test";
import { edgeDescription, ServiceDescription } from "@ostiary/lib/edge-description";
import { resultOf, tableOf } from "../../../unit/edge-description/build.ts";
import { CountedReads } from "../../../unit/edge-description/counted-reads.ts";
import { attacks } from "./edge-description-attacks.ts";

/** The maximum number of values that all steps read of one description, and that one step reads. */
const ALL_READS = 8_000_000;
const STEP_READS = 400_000;
/** The maximum number of characters of an operation without the part of its service. */
const GATEWAY_CHARACTERS = 4_096;

/** Takes all steps, and returns their result. Each step may read a bounded number of values. */
function inShortSteps<Result>(steps: Generator<unknown, Result>, counted: CountedReads): Result {
  for (;;) {
    const before = counted.reads;
    const step = steps.next();
    expect(counted.reads - before).toBeLessThan(STEP_READS);
    if (step.done) return step.value;
  }
}

/** Yields the steps of an edge description without their texts. Returns the number of characters, and the last text. */
function* measured(
  pieces: ReturnType<typeof edgeDescription>,
): Generator<void, { characters: number; last: string }> {
  let characters = 0;
  let last = "";
  for (const piece of pieces) {
    characters += piece.length;
    last = piece;
    yield;
  }
  return { characters, last };
}

describe.each(Object.entries(attacks))("%s", (_, { paths, document, left_out }) => {
  // RG-105
  test("takes bounded work in short steps, and adds a bounded size", () => {
    const routes = paths.map((path) => ({ path, methods: ["GET"] }));
    const table = tableOf({ widgets: { url: "http://widgets:8080", organization: { routes } } });
    const given = document();
    const bytes = Buffer.byteLength(JSON.stringify(given));
    const counted = new CountedReads();
    const description = inShortSteps(ServiceDescription.read(counted.of(given)), counted);
    const pieces = edgeDescription({
      title: "API",
      serverUrl: undefined,
      table,
      descriptions: new Map([["widgets", { status: "current", description, bytes, read_at: null }]]),
    });
    const made = inShortSteps(measured(pieces), counted);
    expect(counted.reads).toBeLessThan(ALL_READS);
    expect(made.characters).toBeLessThan(3 * bytes + GATEWAY_CHARACTERS * (paths.length + 10));
    expect(/"x-service-documents":.*"left_out":[1-9]/.test(made.last)).toBe(left_out);
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
  expect(() => resultOf(ServiceDescription.read({ openapi: "3.1.0", paths }))).toThrow("too much work");
});
