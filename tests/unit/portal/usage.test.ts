/** Tests how the portal page formats usage, and which keys it counts as ending soon. */
import { describe, expect, test } from "bun:test";
import { keyState } from "../../../apps/portal/page/keys/key-state.ts";
import { formatsOf } from "../../../lib/page/formats.ts";

describe("the usage of an organization", () => {
  // PT-34
  test.each([
    [0, "0 bytes", "0 Byte"],
    [999, "999 bytes", "999 Byte"],
    [1_000, "1 kB", "1 kB"],
    [12_345_678, "12.3 MB", "12,3 MB"],
    [5e11, "500 GB", "500 GB"],
  ])("has %d bytes in the largest unit, in each language", (bytes, english, german) => {
    const plain = (locale: string) => formatsOf(locale).bytes(bytes).replaceAll("\u00a0", " ");
    expect([plain("en-GB"), plain("de")]).toEqual([english, german]);
  });
});

// PT-23, PT-70
test("keys end soon if they work and end within 30 days", () => {
  const nowMs = Date.parse("2026-11-29T00:00:00.000Z");
  const key = (days: number | null, revoked_at: string | null = null) => ({
    expires_at: days === null ? null : new Date(nowMs + days * 86_400_000).toISOString(),
    revoked_at,
  });
  const states = (...keys: ReturnType<typeof key>[]) => keys.map((each) => keyState(each, nowMs));
  expect(states(key(30), key(0.01))).toEqual(["ends_soon", "ends_soon"]);
  expect(states(key(30.01), key(null), key(0), key(-1))).toEqual(["valid", "valid", "expired", "expired"]);
  expect(states(key(5, "2026-11-01T00:00:00.000Z"))).toEqual(["revoked"]);
});
