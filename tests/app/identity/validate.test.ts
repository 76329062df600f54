import { describe, expect, test } from "bun:test";
import { BRAND, ISSUER, startIdentity, useIdentity, wrongFields } from "./bed.ts";

const identity = useIdentity();

const PATH = "/internal/credentials/validate";
const ask = (body: unknown) => identity.internal("POST", PATH, body);

describe("a JWT's subject", () => {
  // ID-85
  test("is the same person each time, and another person for another issuer", async () => {
    const subject = crypto.randomUUID();
    const first = await ask({ idp: { issuer: ISSUER, subject } });
    expect(first.body).toEqual({ valid: true, realm: "directory", user_id: expect.any(String) });
    expect((await ask({ idp: { issuer: ISSUER, subject } })).body).toEqual(first.body);
    const other = await ask({ idp: { issuer: `${ISSUER}/`, subject } });
    expect(other.body.user_id).not.toBe(first.body.user_id);
  });

  // ID-86
  test("is compared character by character", async () => {
    const people = await Promise.all(
      ["ada", "Ada", " ada", "ada ", "ａｄａ"].map((name) => identity.person(name)),
    );
    expect(new Set(people).size).toBe(5);
  });
});

// ID-79
describe("in the format of version 1,", () => {
  const secret = () =>
    crypto.getRandomValues(new Uint8Array(32)).toBase64({ alphabet: "base64url", omitPadding: true });
  const hashOf = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

  /** Imports a key of version 1: stores its hash. */
  async function importKey(plaintext: string, owner: { user_id?: string; member_id?: string }) {
    const now = identity.clock.date().toISOString();
    await identity.sql`insert into identity.api_keys (id, user_id, member_id, hash, key_prefix, name, created_at)
        values (${identity.deps.newId()}, ${owner.user_id ?? null}, ${owner.member_id ?? null},
          ${hashOf(plaintext)}, ${plaintext.slice(0, 14)}, 'Imported', ${now}::timestamptz)`;
  }

  test("user keys, member keys and sessions are still valid, each only for its own kind of owner", async () => {
    const { id, owner, ownerMember } = await identity.organization();
    const userKey = `${BRAND}-sk-1-${secret()}`;
    const memberKey = `${BRAND}-mk-1-${secret()}`;
    const session = `${BRAND}-ms-1-${secret()}`;
    await importKey(userKey, { user_id: owner });
    await importKey(memberKey, { member_id: ownerMember });
    const [now, end] = [0, 1000].map((later) => new Date(identity.clock.now() + later).toISOString());
    await identity.sql`insert into identity.sessions (hash, member_id, created_at, expires_at)
        values (${hashOf(session)}, ${ownerMember}, ${now}::timestamptz, ${end}::timestamptz)`;
    expect(await identity.validate(userKey)).toEqual({ valid: true, realm: "directory", user_id: owner });
    const member = { valid: true, realm: "organization", organization_id: id, member_id: ownerMember };
    expect(await identity.validate(memberKey)).toMatchObject(member);
    expect(await identity.validate(session)).toMatchObject({ ...member, expires_at: end });

    const crossed = `${BRAND}-sk-1-${secret()}`;
    const crossedToo = `${BRAND}-mk-1-${secret()}`;
    await importKey(crossed, { member_id: ownerMember });
    await importKey(crossedToo, { user_id: owner });
    expect(await identity.validate(crossed)).toEqual({ valid: false });
    expect(await identity.validate(crossedToo)).toEqual({ valid: false });
  });

  test("a secret with another brand is not valid, even if its hash is stored", async () => {
    const old = `formerly-k-2-${secret()}`;
    await importKey(old, { user_id: await identity.person() });
    expect(await identity.validate(old)).toEqual({ valid: false });
  });
});

describe("the request of a validation", () => {
  // ID-84
  test("is 422 with neither or both of credential and idp, unknown, repeated or wrong fields, and 400 if not JSON", async () => {
    const idp = { issuer: ISSUER, subject: "a" };
    expect(wrongFields(await ask({}))).toEqual([""]);
    expect((await ask({ idp, credential: "x" })).status).toBe(422);
    expect(wrongFields(await ask({ idp: null }))).toEqual(["idp"]);
    expect(wrongFields(await ask({ idp: { issuer: ISSUER } }))).toEqual(["idp.subject"]);
    expect(wrongFields(await ask({ idp: { ...idp, audience: "x" } }))).toEqual(["idp.audience"]);
    expect(wrongFields(await ask({ credential: 7 }))).toEqual(["credential"]);
    expect(wrongFields(await ask({ credential: "" }))).toEqual(["credential"]);
    expect(wrongFields(await ask({ credential: "x", realm: "directory" }))).toEqual(["realm"]);
    expect(wrongFields(await ask('{"credential":"x","credential":"y"}'))).toEqual([""]);
    expect((await ask("{")).status).toBe(400);
    expect((await ask([])).status).toBe(422);
    expect(wrongFields(await identity.internal("POST", `${PATH}?a=1`, { credential: "x" }))).toEqual(["a"]);
  });

  // ID-86
  test("is 422 if the issuer or the subject is empty, too long or has a control character", async () => {
    const long = "s".repeat(255);
    expect((await ask({ idp: { issuer: ISSUER, subject: long } })).body.valid).toBe(true);
    for (const value of ["", `${long}s`, "a\u0000", "a\nb", "\ud800"]) {
      expect(wrongFields(await ask({ idp: { issuer: ISSUER, subject: value } }))).toEqual(["idp.subject"]);
      expect(wrongFields(await ask({ idp: { issuer: value, subject: "a" } }))).toEqual(["idp.issuer"]);
    }
  });

  // ID-89
  test("is 401 without a configured internal token, on every internal path except health", async () => {
    await using guarded = await startIdentity({ internalAuthToken: "secret-token" });
    const body = { credential: "x" };
    const wrong: Record<string, string>[] = [
      {},
      { "x-platform-internal-token": "wrong" },
      { "x-platform-internal-token": "" },
    ];
    for (const headers of wrong) {
      const refused = await guarded.internal("POST", PATH, body, headers);
      expect(refused.status).toBe(401);
      expect(refused.body.error.code).toBe("UNAUTHORIZED");
      expect((await guarded.internal("GET", "/internal/lifecycle-events", undefined, headers)).status).toBe(
        401,
      );
      expect((await guarded.internal("GET", "/internal/unknown", undefined, headers)).status).toBe(401);
    }
    const headers = { "x-platform-internal-token": "secret-token" };
    expect((await guarded.internal("POST", PATH, body, headers)).body).toEqual({ valid: false });
    expect((await guarded.internal("GET", "/health/live")).status).toBe(200);
    expect((await guarded.internal("GET", "/health/ready")).status).toBe(200);
  });

  // ID-90
  test("is 404 on the public port, and public paths are 404 on the internal port", async () => {
    expect((await identity.call("POST", PATH, { credential: "x" })).status).toBe(404);
    expect((await identity.call("GET", "/internal/lifecycle-events")).status).toBe(404);
    expect((await identity.internal("GET", "/users")).status).toBe(404);
  });
});
