import { afterEach, describe, expect, test } from "bun:test";
import { member, person } from "../../../support/gateway/identity-stand-in.ts";
import { type Admission, admission, credential, key } from "./bed.ts";

let gate: Admission;
const open = (environment?: Record<string, string>) => {
  gate = admission(environment);
  return gate;
};
afterEach(() => gate.close());

describe("the credential cache", () => {
  test("returns the principal of a cached credential synchronously", async () => {
    const { authenticate, verdict, known } = open();
    const text = known("k-2", member());
    await verdict("member", key(text));
    expect(authenticate("member", key(text))).toMatchObject({ member_id: "m1" });
    expect(() => authenticate("user", key(text))).toThrow("Authentication required.");
  });

  // GW-57
  test.each([
    { kind: "valid", result: member(), before: "admitted" as const },
    { kind: "invalid", result: { valid: false }, before: 401 as const },
  ])("keeps $kind results for APIKEY_CACHE_TTL_SECS", async ({ result, before }) => {
    const { identity, time, verdict, known } = open({ APIKEY_CACHE_TTL_SECS: "10" });
    const text = known("k-2", result);
    expect(await verdict("member", key(text))).toBe(before);
    identity.results.set(text, before === "admitted" ? { valid: false } : member());
    time.advance(9_999);
    expect(await verdict("member", key(text))).toBe(before);
    expect(identity.calls).toHaveLength(1);
    time.advance(1);
    expect(await verdict("member", key(text))).toBe(before === "admitted" ? 401 : "admitted");
    expect(identity.calls).toHaveLength(2);
  });

  // GW-57
  test("keeps nothing with APIKEY_CACHE_TTL_SECS=0", async () => {
    const { identity, verdict, known } = open({ APIKEY_CACHE_TTL_SECS: "0" });
    const text = known("k-2", member());
    for (let call = 1; call <= 3; call++) {
      expect(await verdict("member", key(text))).toBe("admitted");
      expect(identity.calls).toHaveLength(call);
    }
  });

  // GW-58
  test.each([
    { what: "a session", form: "s-2", scope: "member" as const, result: member() },
    { what: "a member's key", form: "k-2", scope: "member" as const, result: member() },
    { what: "a person's key", form: "k-2", scope: "user" as const, result: person() },
  ])("keeps $what until it expires, to the millisecond", async ({ form, scope, result }) => {
    const { identity, time, verdict } = open();
    const text = credential(form);
    const expires_at = new Date(time.now() + 5_000).toISOString();
    identity.results.set(text, { ...result, expires_at });
    expect(await verdict(scope, key(text))).toBe("admitted");
    time.advance(4_999);
    expect(await verdict(scope, key(text))).toBe("admitted");
    expect(identity.calls).toHaveLength(1);
    identity.results.set(text, { valid: false });
    time.advance(1);
    expect(await verdict(scope, key(text))).toBe(401);
    expect(identity.calls).toHaveLength(2);
  });

  // GW-58
  test("does not admit a key that expires while identity's response is in transit", async () => {
    const { identity, time, verdict } = open();
    const text = credential("k-2");
    const expires_at = new Date(time.now() + 1_000).toISOString();
    identity.override = () => {
      time.advance(1_000);
      return Response.json(member({ expires_at }));
    };
    const verdicts = await Promise.all(Array.from({ length: 10 }, () => verdict("member", key(text))));
    expect(new Set(verdicts)).toEqual(new Set([401]));
  });

  // GW-57
  test("counts the age of an entry from the call, not from a late response", async () => {
    const { identity, time, verdict } = open({ APIKEY_CACHE_TTL_SECS: "10", VALIDATE_TIMEOUT_MS: "10000" });
    const text = credential("k-2");
    identity.override = () => {
      time.advance(6_000);
      return Response.json(member());
    };
    await verdict("member", key(text));
    time.advance(4_000);
    await verdict("member", key(text));
    expect(identity.calls).toHaveLength(2);
  });

  // GW-60
  test("makes one call for a thousand concurrent misses of one credential", async () => {
    const { identity, verdict, known } = open();
    const text = known("k-2", member());
    const verdicts = await Promise.all(
      Array.from({ length: 1_000 }, (_, at) => verdict(at % 2 === 0 ? "member" : "user", key(text))),
    );
    expect(verdicts.filter((verdict) => verdict === "admitted")).toHaveLength(500);
    expect(verdicts.filter((verdict) => verdict === 401)).toHaveLength(500);
    expect(identity.calls).toHaveLength(1);
  });

  // GW-60
  test("fails a thousand concurrent misses with one call, and then calls again", async () => {
    const { identity, verdict } = open();
    const text = credential("k-2");
    identity.override = () => new Response(null, { status: 500 });
    const verdicts = await Promise.all(Array.from({ length: 1_000 }, () => verdict("member", key(text))));
    expect(new Set(verdicts)).toEqual(new Set([503]));
    expect(identity.calls).toHaveLength(1);
    identity.override = null;
    await verdict("member", key(text));
    expect(identity.calls).toHaveLength(2);
  });

  // GW-61
  test("keeps ADMISSION_CACHE_ENTRIES entries, and drops the least recently used first", async () => {
    const { identity, verdict } = open({ ADMISSION_CACHE_ENTRIES: "2" });
    const [first = "", second = "", third = ""] = [credential("k-2"), credential("k-2"), credential("k-2")];
    const ask = async (text: string) => {
      const before = identity.calls.length;
      await verdict("member", key(text));
      return identity.calls.length - before;
    };
    expect([await ask(first), await ask(second), await ask(first), await ask(third)]).toEqual([1, 1, 0, 1]);
    expect([await ask(first), await ask(third), await ask(second)]).toEqual([0, 0, 1]);
  });
});
