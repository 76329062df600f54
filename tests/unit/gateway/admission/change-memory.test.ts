import { expect, test } from "bun:test";
import type { AdmissionChange } from "@ostiary/lib/contracts/admission";
import { CredentialRefusal } from "@ostiary/lib/runtime/tokens";
import { ChangeMemory } from "../../../../apps/gateway/admission/change-memory.ts";
import { type Admitted, admittedPerson } from "../../../../apps/gateway/admission/principal.ts";
import { ResultCache } from "../../../../apps/gateway/admission/result-cache.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

const refusal = new CredentialRefusal("api_key", "refused");
const personOf = (id: string) => admittedPerson({ auth_type: "jwt", key_prefix: null }, id);
const change = (user_id: string, readmits = false): AdmissionChange => ({ user_id, readmits });

/** A cache with results of `u0` to `u99` and a refusal, and a memory that counts its comparisons. */
async function filled() {
  const memory = new ChangeMemory();
  let comparisons = 0;
  const changes = {
    get count() {
      return memory.count;
    },
    isVoid(result: Admitted | CredentialRefusal, count: number) {
      comparisons += 1;
      return memory.isVoid(result, count);
    },
  };
  const cache = new ResultCache<Admitted | CredentialRefusal>(1_000, manualClock(), changes);
  const put = (name: string, value: Admitted | CredentialRefusal) =>
    cache.load(name, async () => ({
      value,
      untilElapsedMs: Number.POSITIVE_INFINITY,
      endsAtMs: Number.POSITIVE_INFINITY,
    }));
  for (let n = 0; n < 100; n += 1) await put(`u${n}`, personOf(`u${n}`));
  await put("refused", refusal);
  return { cache, memory, put, comparisons: () => comparisons };
}

// GW-221
test("a change compares no cached result, and a result is compared once with all changes since its last use", async () => {
  const { cache, memory, comparisons } = await filled();
  for (let n = 0; n < 1_000; n += 1) memory.add([change(`other ${n}`)]);
  expect(comparisons()).toBe(0);
  for (let use = 0; use < 10; use += 1) expect(cache.get("u1")).toBeDefined();
  expect(comparisons()).toBe(1);
});

// GW-222
test("a change voids the older results of its owner, and a reset and too many changes void everything", async () => {
  const { cache, memory, put } = await filled();
  memory.addAll();
  expect(["u1", "u99", "refused"].map((name) => cache.get(name))).toEqual([undefined, undefined, undefined]);
  await put("u1", personOf("u1"));
  await put("u2", personOf("u2"));
  memory.add([change("u2")]);
  memory.add(Array.from({ length: 99_999 }, (_, n) => change(`other ${n}`)));
  expect([cache.get("u1"), cache.get("u2")]).toEqual([personOf("u1"), undefined]);
  memory.add([change("one more")]);
  expect(cache.get("u1")).toBeUndefined();
});
