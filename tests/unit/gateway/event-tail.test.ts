/** Tests of where a stream of server-sent events can end without cutting an event. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { EventTail } from "../../../apps/gateway/upstream/event-tail.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function after(...chunks: string[]): boolean {
  const tail = new EventTail();
  for (const chunk of chunks) tail.passed(bytes(chunk));
  return tail.between;
}

describe("a stream can end between two events", () => {
  const line = fc.constantFrom("data: a", "", ":", "id: 1", "x".repeat(50));
  const end = fc.constantFrom("\n", "\r", "\r\n");
  const text = fc
    .array(fc.tuple(line, end), { maxLength: 12 })
    .map((lines) => lines.map((parts) => parts.join("")).join(""));

  test("as a line reader finds it, in any chunks", () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(100)), fc.constantFrom("", "data: cut"), (whole, cuts, rest) => {
        const all = whole + rest;
        const places = [0, ...cuts.map((cut) => cut % (all.length + 1)).sort((a, b) => a - b), all.length];
        const chunks = places.slice(1).map((to, index) => all.slice(places[index], to));
        // Between two events, the last line is empty and unfinished, and the line before it is empty.
        const lines = all.split(/\r\n|\r|\n/);
        const between = lines.at(-1) === "" && (lines.length === 1 || lines.at(-2) === "");
        expect(after(...chunks)).toBe(between);
      }),
    );
  });

  test("after the last event that a chunk completes, which wholeEventsIn finds without side effects", () => {
    fc.assert(
      fc.property(text, text, (before, chunk) => {
        const tail = new EventTail();
        tail.passed(bytes(before));
        const was = tail.between;
        const whole = tail.wholeEventsIn(bytes(chunk));
        expect(tail.between).toBe(was);
        const ends = Array.from({ length: chunk.length }, (_, index) => index + 1);
        expect(whole).toBe(ends.findLast((length) => after(before, chunk.slice(0, length))) ?? 0);
      }),
    );
  });
});
