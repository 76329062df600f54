import { describe, expect, test } from "bun:test";
import type { JWTPayload } from "jose";
import { member } from "../../../support/gateway/identity-stand-in.ts";
import { sign } from "../../../support/pages/provider-stand-in.ts";
import { bearer, ISSUER } from "./bed.ts";
import { ALGORITHMS, tokenBed } from "./token-bed.ts";

const bed = tokenBed();
const { claims, keyFor, open, seconds } = bed;

/** Opens admission, and returns its verdict about a token with these changes of its claims. */
const verdictOn = async (more: object = {}, environment: Record<string, string> = {}) => {
  const { verdict } = await open(environment);
  return verdict("user", bearer(await sign(bed.main, { ...claims(), ...more })));
};

describe("a JWT", () => {
  // GW-43
  test.each(ALGORITHMS)(
    "signed with %s is admitted on user routes and asks identity for its subject",
    async (alg) => {
      const { identity, outcome } = await open();
      const token = await sign(keyFor(alg), claims());
      expect(await outcome("user", bearer(token))).toEqual({
        auth_type: "jwt",
        key_prefix: null,
        user_id: "u-alice",
        organization_id: null,
        member_id: null,
        labels: null,
        plan: null,
      });
      expect(identity.calls).toEqual([{ idp: { issuer: ISSUER, subject: "alice" } }]);
    },
  );

  // GW-43
  test.each([
    ["EdDSA", "Ed25519"],
    ["Ed25519", "EdDSA"],
  ])("whose header says %s is verified with a key for %s", async (alg, keyAlg) => {
    const { verdict } = await open();
    const token = await sign(keyFor(keyAlg), claims(), { alg });
    expect(await verdict("user", bearer(token))).toBe("admitted");
  });

  // GW-43
  test("whose header says Ed25519 gets 401 when the key has another curve", async () => {
    const { verdict } = await open();
    const token = await sign(keyFor("Ed25519"), claims(), { kid: "kid-ES256" });
    expect(await verdict("user", bearer(token))).toBe(401);
  });

  // GW-39
  test("gets 401 on organization and member routes, without a call to identity", async () => {
    const { identity, verdict } = await open();
    const token = await sign(bed.main, claims());
    expect(await verdict("organization", bearer(token))).toBe(401);
    expect(await verdict("member", bearer(token))).toBe(401);
    expect(identity.calls).toEqual([]);
  });

  // GW-36
  test("is read after Bearer in any case and with any number of spaces", async () => {
    const { verdict } = await open();
    const token = await sign(bed.main, claims());
    for (const scheme of ["Bearer", "bearer", "BEARER", "Bearer  "]) {
      expect(await verdict("user", { authorization: `${scheme} ${token}` })).toBe("admitted");
    }
    expect(await verdict("user", { authorization: `Bearer ${token}, Bearer ${token}` })).toBe(401);
  });

  // GW-48
  test("of a person whom identity refuses gets 401", async () => {
    expect(await verdictOn({ sub: "mallory" })).toBe(401);
  });

  test("gets 503 if identity returns a member", async () => {
    const { identity, verdict } = await open();
    identity.override = () => Response.json(member());
    expect(await verdict("user", bearer(await sign(bed.main, claims())))).toBe(503);
  });
});

describe("claims", () => {
  const rows: [what: string, change: () => JWTPayload, verdict: "admitted" | 401][] = [
    ["no exp", () => ({ exp: undefined }), 401],
    ["exp 29 s ago, within the leeway", () => ({ exp: seconds() - 29 }), "admitted"],
    ["exp 30 s ago", () => ({ exp: seconds() - 30 }), 401],
    ["nbf in 30 s, within the leeway", () => ({ nbf: seconds() + 30 }), "admitted"],
    ["nbf in 31 s", () => ({ nbf: seconds() + 31 }), 401],
    ["iat in the future", () => ({ iat: seconds() + 600 }), "admitted"],
    ["any audience when none is configured", () => ({ aud: "whoever" }), "admitted"],
  ];
  // GW-45, GW-46
  test.each(rows)("with %s are admitted or get 401, as specified", async (_, change, expected) => {
    const { verdict } = await open();
    expect(await verdict("user", bearer(await sign(bed.main, claims(change()))))).toBe(expected);
  });

  // GW-46
  test("must name an allowed audience if audiences are configured", async () => {
    const { verdict } = await open({ AUTH_ALLOWED_AUDIENCES: "web, mobile ,," });
    const of = async (aud: JWTPayload["aud"]) =>
      verdict("user", bearer(await sign(bed.main, claims({ aud }))));
    for (const aud of ["web", "mobile", ["other", "mobile"]]) expect(await of(aud)).toBe("admitted");
    for (const aud of ["other", ["other"], [], "web, mobile", undefined]) expect(await of(aud)).toBe(401);
  });

  // GW-47
  test("name the person in AUTH_USER_ID_CLAIM, where a dot leads into an object", async () => {
    const { identity, verdict } = await open({ AUTH_USER_ID_CLAIM: "properties.user_id" });
    const of = async (more: JWTPayload) => verdict("user", bearer(await sign(bed.main, claims(more))));
    expect(await of({ properties: { user_id: "alice" } })).toBe("admitted");
    expect(identity.calls).toEqual([{ idp: { issuer: ISSUER, subject: "alice" } }]);
    expect(await of({})).toBe(401);
    expect(await of({ "properties.user_id": "alice" })).toBe(401);
    expect(await of({ properties: "alice" })).toBe(401);
    expect(await of({ properties: null })).toBe(401);
    expect(await of({ properties: { user_id: "" } })).toBe(401);
    expect(await of({ properties: [{ user_id: "alice" }] })).toBe(401);
  });

  // GW-47
  test.each(["constructor.name", "__proto__.name", "toString"])(
    "do not inherit values: the claim path %s finds nothing",
    async (path) => {
      expect(await verdictOn({}, { AUTH_USER_ID_CLAIM: path })).toBe(401);
    },
  );
});

describe("the token cache", () => {
  // GW-59
  test("returns the principal of a known token synchronously", async () => {
    const { authenticate, verdict } = await open();
    const token = await sign(bed.main, claims());
    await verdict("user", bearer(token));
    expect(authenticate("user", bearer(token))).toMatchObject({ user_id: "u-alice" });
  });

  // GW-59
  test("keeps a verified token until it expires", async () => {
    const { time, verdict } = await open();
    const token = await sign(bed.main, claims({ exp: seconds() + 100 }));
    await verdict("user", bearer(token));
    time.advance(99_000);
    expect(await verdict("user", bearer(token))).toBe("admitted");
    time.advance(31_000);
    expect(await verdict("user", bearer(token))).toBe(401);
  });

  // GW-57
  test("asks identity for a person again after APIKEY_CACHE_TTL_SECS", async () => {
    const { identity, time, verdict } = await open({ APIKEY_CACHE_TTL_SECS: "10" });
    const tokens = [await sign(bed.main, claims()), await sign(bed.main, claims({ jti: "2" }))];
    for (const token of tokens) expect(await verdict("user", bearer(token))).toBe("admitted");
    expect(identity.calls).toHaveLength(1);
    identity.results.set("alice", { valid: false });
    time.advance(10_000);
    for (const token of tokens) expect(await verdict("user", bearer(token))).toBe(401);
    expect(identity.calls).toHaveLength(2);
  });

  // GW-60
  test("makes one call for a thousand concurrent misses of one person", async () => {
    const { identity, verdict } = await open();
    const tokens = await Promise.all(
      Array.from({ length: 20 }, (_, at) => sign(bed.main, claims({ jti: String(at) }))),
    );
    const asked = tokens.flatMap((token) => Array.from({ length: 50 }, () => verdict("user", bearer(token))));
    expect(new Set(await Promise.all(asked))).toEqual(new Set(["admitted"]));
    expect(identity.calls).toHaveLength(1);
  });
});
