import { expect, test } from "bun:test";
import { SealedState } from "@ostiary/audit/sealing/sealed-state";
import { type Checkpoint, hexOf, ZERO_HASH } from "@ostiary/lib/domain/proof";
import { openDatabase } from "@ostiary/lib/runtime/stores/database";
import { freshDatabase } from "../../support/index.ts";

const checkpoint = (number: number, sealed_at = "2026-01-31T12:00:00.000Z"): Checkpoint => ({
  number,
  sealed_at,
  previous: hexOf(ZERO_HASH),
  heads: hexOf(ZERO_HASH),
  jws: null,
});

// AU-80
test("a sealer whose checkpoint is gone from the database reports it once, and starts over", async () => {
  const database = await openDatabase(await freshDatabase(), { namespace: "audit" });
  const state = new SealedState(database);
  expect(state.setBackFrom(null)).toBeNull();
  state.remember([], checkpoint(7));
  expect(state.setBackFrom(checkpoint(7))).toBeNull();
  expect(state.setBackFrom(checkpoint(8))).toBeNull();
  expect(state.setBackFrom(checkpoint(6))).toBe(7);
  expect(state.setBackFrom(checkpoint(6))).toBeNull();
  state.remember([], checkpoint(7));
  expect(state.setBackFrom(checkpoint(7, "2026-01-31T12:00:01.000Z"))).toBe(7);
  state.remember([], checkpoint(7));
  expect(state.setBackFrom(null)).toBe(7);
  await database.close();
});
