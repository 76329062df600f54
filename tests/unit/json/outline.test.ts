import { describe, expect, test } from "bun:test";
import { JSON_DEPTH_MAX, JsonTooDeep, outlineJson, parseJson } from "@ostiary/lib/domain/json";
import fc from "fast-check";

const nested = (depth: number, open = "[", close = "]", inside = "") =>
  open.repeat(depth) + inside + close.repeat(depth);

describe("the outline of a JSON text", () => {
  test("reports nesting of more than 64 levels", () => {
    expect(JSON_DEPTH_MAX).toBe(64);
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":', "}"],
      ['[{"a":', "}]"],
    ] as const) {
      const levels = open.startsWith("[{") ? 32 : 64;
      expect(outlineJson(nested(levels, open, close, "1")).tooDeepAt).toBeNull();
      const text = nested(levels + 1, open, close, "1");
      expect(outlineJson(text).tooDeepAt).not.toBeNull();
      expect(() => parseJson(text)).toThrow(JsonTooDeep);
    }
  });

  test("counts nested brackets, and not brackets in strings or side by side", () => {
    const flat = [nested(2_000), '{"a":'.repeat(99), '\\"[[[[', "\\"].map((text) => JSON.stringify(text));
    const text = `[${flat.join(",")},${Array(500).fill("[]").join(",")}]`;
    expect(outlineJson(text)).toMatchObject({ tooDeepAt: null });
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  test("reports where the 65th level begins, also in malformed text", () => {
    expect(outlineJson(nested(65)).tooDeepAt).toBe(64);
    expect(outlineJson(`"${"[".repeat(70)}" ${"[".repeat(70)}`).tooDeepAt).toBe(73 + 64);
    for (const text of ["[".repeat(64), '"[', '"\\', "]".repeat(1_000), ""]) {
      expect(outlineJson(text).tooDeepAt).toBeNull();
      expect(() => parseJson(text)).toThrow(SyntaxError);
    }
  });
});

test("the outline counts at least as many values as a text has, and at most twice as many", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), (text) => {
      const count = values(JSON.parse(text));
      expect(outlineJson(text).values).toBeWithin(count, 2 * count + 1);
    }),
  );
});

function values(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return 1 + Object.values(value).reduce((sum, each) => sum + values(each), 0);
}
