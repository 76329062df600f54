import { onTestFinished } from "bun:test";

const ends: (() => unknown)[] = [];

/** Calls `end` after the current test. The resource that the test started last ends first. */
export function atTestEnd(end: () => unknown): void {
  if (ends.push(end) > 1) return;
  onTestFinished(async () => {
    for (const each of ends.splice(0).toReversed()) await each();
  });
}
