import { expect, test } from "bun:test";
import type { AdmissionChange } from "@ostiary/lib/contracts/admission";
import { ChangeMemory } from "../../../../apps/gateway/admission/change-memory.ts";
import { admittedPerson } from "../../../../apps/gateway/admission/principal.ts";

const change = (user_id: string): AdmissionChange => ({ user_id, readmits: false });

// GW-222
test("every result is void after more changes than are remembered", () => {
  const memory = new ChangeMemory();
  const isVoid = (id: string) => memory.isVoid(admittedPerson({ auth_type: "jwt", key_prefix: null }, id), 0);
  memory.add([change("u2")]);
  memory.add(Array.from({ length: 99_999 }, (_, n) => change(`other ${n}`)));
  expect([isVoid("u1"), isVoid("u2")]).toEqual([false, true]);
  memory.add([change("one more")]);
  expect(isVoid("u1")).toBe(true);
});
