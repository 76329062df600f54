import { describe, expect, test } from "bun:test";
import { formatTraceparent, parseTraceparent, parseTracestate } from "@ostiary/lib/runtime/telemetry";
import fc from "fast-check";
import { runs } from "../../support/runs.ts";

const TRACE_ID = "12345678901234567890123456789012";
const PARENT_ID = "1234567890123456";

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: length, maxLength: length });
const id = (length: number) => hex(length).filter((value) => !/^0+$/.test(value));

describe("traceparent", () => {
  test("is parsed into the values that it was written from", () => {
    fc.assert(
      fc.property(id(32), id(16), fc.boolean(), fc.boolean(), (trace_id, parentId, sampled, random) => {
        expect(parseTraceparent(formatTraceparent(trace_id, parentId, sampled, random))).toEqual({
          trace_id,
          parentId,
          sampled,
          random,
        });
      }),
    );
  });

  // GW-84
  test("of any version except ff is parsed like version 00", () => {
    fc.assert(
      fc.property(hex(2), id(32), id(16), hex(2), (version, trace_id, parentId, flags) => {
        const read = parseTraceparent(`${version}-${trace_id}-${parentId}-${flags}`);
        const sampled = Number.parseInt(flags, 16) % 2 === 1;
        const random = Number.parseInt(flags, 16) % 4 >= 2;
        expect(read).toEqual(version === "ff" ? null : { trace_id, parentId, sampled, random });
      }),
    );
  });

  test("is refused with one wrong character", () => {
    const valid = formatTraceparent(TRACE_ID, PARENT_ID, true);
    const at = fc.integer({ min: 0, max: valid.length - 1 });
    const wrong = fc.oneof(
      fc.constantFrom(..."/:@`gGA_. ,\u0000"),
      fc.string({ unit: "binary", minLength: 1, maxLength: 1 }).filter((value) => !/[0-9a-f-]/.test(value)),
    );
    fc.assert(
      fc.property(at, wrong, (position, character) => {
        expect(parseTraceparent(valid.slice(0, position) + character + valid.slice(position + 1))).toBeNull();
      }),
    );
  });
});

/** The grammar of tracestate, with keys of Trace Context level 2. The tests compare the parser with it. */
const KEY = "[a-z0-9][a-z0-9_*/@-]{0,255}";
const VALUE = String.raw`[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]`;
const MEMBER = new RegExp(`^${KEY}=${VALUE}$`);

const trimmed = (member: string) => member.replace(/^[ \t]+|[ \t]+$/g, "");
const membersOf = (state: string) => state.split(",").map(trimmed);

function allowed(state: string): boolean {
  const members = membersOf(state);
  return (
    members.length <= 32 &&
    members.some((member) => member !== "") &&
    members.every((member) => member === "" || MEMBER.test(member))
  );
}

describe("tracestate", () => {
  test("is passed on or dropped as the grammar says", () => {
    const character = fc.constantFrom(...'ab09z_-*/@@==, \t"~AZ.\u007f\u00e9');
    const noise = fc.string({ unit: character, maxLength: 6 });
    const key = fc.stringMatching(/^[a-z0-9][a-z0-9_*/@-]{0,6}$/);
    const member = fc
      .tuple(key, fc.constantFrom("=", "=", "=", "", "==", " ="))
      .map((pair) => `${pair.join("")}v`);
    const piece = fc.oneof(
      { weight: 8, arbitrary: member },
      { weight: 2, arbitrary: fc.constant("") },
      noise,
    );
    const comma = fc.constantFrom(",", ", ", "\t, ", " ,");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 5 }), comma, (pieces, separator) => {
        const state = pieces.join(separator);
        expect(parseTracestate(state)).toBe(allowed(state) ? trimmed(state) : null);
      }),
      { numRuns: runs(500) },
    );
  });

  // GW-84
  test.each([
    ["a key of 256 characters", (length: number) => `${"k".repeat(length - 2)}=1`, 258],
    ["a value of 256 characters", (length: number) => `k=${"v".repeat(length - 2)}`, 258],
    ["32 members", (count: number) => Array.from({ length: count }, (_, at) => `k${at}=1`).join(","), 32],
  ])("has at most %s", (_, stateOf, most) => {
    expect(parseTracestate(stateOf(most))).toBe(stateOf(most));
    expect(parseTracestate(stateOf(most + 1))).toBeNull();
  });
});
