import { expect, test } from "bun:test";
import { LastWrites } from "@ostiary/audit/sealing/set-back";
import { type Checkpoint, hexOf, ZERO_HASH } from "@ostiary/lib/domain/proof";

const checkpoint = (number: number, sealed_at = "2026-01-31T12:00:00.000Z"): Checkpoint => ({
  number,
  sealed_at,
  previous: hexOf(ZERO_HASH),
  heads: hexOf(ZERO_HASH),
  jws: null,
});

// AU-80
test("a sealer whose checkpoint is gone from the database reports it once, and starts over", () => {
  const writes = new LastWrites();
  expect(writes.setBackFrom(null)).toBeNull();
  writes.remember([], checkpoint(7));
  expect(writes.setBackFrom(checkpoint(7))).toBeNull();
  expect(writes.setBackFrom(checkpoint(8))).toBeNull();
  expect(writes.setBackFrom(checkpoint(6))).toBe(7);
  expect(writes.setBackFrom(checkpoint(6))).toBeNull();
  writes.remember([], checkpoint(7));
  expect(writes.setBackFrom(checkpoint(7, "2026-01-31T12:00:01.000Z"))).toBe(7);
  writes.remember([], checkpoint(7));
  expect(writes.setBackFrom(null)).toBe(7);
});
