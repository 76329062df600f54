/** Tests of the reasons for refused credentials that operators see. Each failed check has its own reason. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { RefusalReason } from "@ostiary/lib/runtime/tokens";
import { type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { member, person } from "../../../support/gateway/identity-stand-in.ts";
import { waitFor } from "../../../support/index.ts";
import {
  type ProviderStandIn,
  type SigningKey,
  sign,
  signingKey,
  startProvider,
} from "../../../support/pages/provider-stand-in.ts";
import { type Admission, admission, bearer, credential, ISSUER, key } from "./bed.ts";

const MEMBER_KEY = credential("k-2");
let main: SigningKey;
let stranger: SigningKey;
let provider: ProviderStandIn;
let gate: Admission;

beforeAll(async () => {
  main = await signingKey("ES256", "main");
  stranger = await signingKey("ES256", "main");
  provider = startProvider(main);
  gate = admission({
    AUTH_JWKS_URI: provider.uri,
    AUTH_ALLOWED_AUDIENCES: "web",
    AUTH_USER_ID_CLAIM: "properties.id",
  });
  gate.identity.results.set("alice", person("u-alice"));
  gate.identity.results.set(MEMBER_KEY, member());
  await gate.start();
  await waitFor(() => gate.ready());
});
afterAll(() => Promise.all([gate.close(), provider.stop()]));

let before: Record<string, number>;
beforeEach(() => {
  before = gate.counted();
});
/** Expects that refusals of one test were counted for `reason`, and none for another reason. */
const expectCounted = (reason: string, count = 1) =>
  expect(gate.counted()).toEqual({ ...before, [reason]: (before[reason] ?? Number.NaN) + count });

const seconds = () => gate.time.now() / 1000;
const claims = (more: object = {}): JWTPayload => ({
  iss: ISSUER,
  aud: "web",
  properties: { id: "alice" },
  exp: seconds() + 3_600,
  ...more,
});
const encode = (text: string) => Buffer.from(text).toString("base64url");
/** Returns a function that signs a token with these changes of its claims. */
const claiming = (more: object) => () => sign(main, { ...claims(), ...more });
const replaced = async (part: number, by: string) =>
  (await sign(main, claims())).split(".").with(part, by).join(".");
const critical = () =>
  new SignJWT(claims())
    .setProtectedHeader({ alg: main.alg, kid: main.kid, crit: ["exp2"], exp2: 1 })
    .sign(main.privateKey, { crit: { exp2: true } });

type Row = [
  reason: RefusalReason,
  what: string,
  token: () => string | Promise<string>,
  detail: string | RegExp,
];
const noClaim = (name: string) => `The token has no claim ${name}.`;
const rows: Row[] = [
  ["not_a_jwt", "an opaque token", () => "0b5d2c5e", /opaque or encrypted token/],
  ["not_a_jwt", "an encrypted token", () => "a.b.c.d.e", /three parts/],
  ["too_long", "9000 characters", () => "x".repeat(9_000), /longer than 8192/],
  ["malformed", "padding", async () => `${await sign(main, claims())}=`, /base64url/],
  ["malformed", "a header that is text", () => replaced(0, encode('"text"')), /not a JSON object/],
  ["malformed", "a header that is not JSON", () => replaced(0, encode("{")), /not a JSON object/],
  ["malformed", "an unknown critical header", critical, /not supported/],
  ["type", "a logout token", () => sign(main, claims(), { typ: "logout+jwt" }), /typ is "logout\+jwt"/],
  ["algorithm", "no signature", () => replaced(0, encode('{"alg":"none"}')), /alg is "none"/],
  ["algorithm", "no alg", () => replaced(0, encode("{}")), /alg is missing/],
  [
    "key_not_found",
    "an unknown kid",
    () => sign(main, claims(), { kid: "retired" }),
    'The key set has no usable key for kid "retired" and alg "ES256".',
  ],
  ["signature", "another key", () => sign(stranger, claims()), /does not verify the signature/],
  [
    "issuer",
    "an additional slash",
    claiming({ iss: `${ISSUER}/` }),
    `The token's iss is "${ISSUER}/", but AUTH_ISSUER is "${ISSUER}".`,
  ],
  [
    "audience",
    "another API",
    claiming({ aud: ["account", "x"] }),
    'The token\'s aud is ["account","x"], but AUTH_ALLOWED_AUDIENCES is ["web"].',
  ],
  ["expired", "an old token", claiming({ exp: 86_400 }), /expired at 1970-01-02T00:00:00.000Z/],
  ["expired", "a time outside the range of dates", claiming({ exp: -1e300 }), /expired at -1e\+300/],
  [
    "not_yet_valid",
    "a token for the future",
    claiming({ nbf: 32_503_680_000 }),
    /not valid before 3000-01-01T00:00:00.000Z/,
  ],
  ["claim_missing", "no exp", claiming({ exp: undefined }), noClaim("exp")],
  ["claim_missing", "no iss", claiming({ iss: undefined }), noClaim("iss")],
  ["claim_missing", "no aud", claiming({ aud: undefined }), noClaim("aud")],
  ["claim_missing", "no user id", claiming({ properties: {} }), noClaim("properties.id")],
  ["claim_invalid", "an empty user id", claiming({ properties: { id: "" } }), /properties.id/],
  ["claim_invalid", "a text for exp", claiming({ exp: "soon" }), /claim exp is empty or has a wrong/],
  ["claim_invalid", "a text for nbf", claiming({ nbf: "soon" }), /claim nbf is empty or has a wrong/],
  ["person", "a suspended person", claiming({ properties: { id: "eve" } }), /suspended/],
];

// GW-163
describe("a token is refused for", () => {
  test.each(rows)("%s: %s", async (reason, _, make, detail) => {
    const refusal = await gate.refusal("user", bearer(await make()));
    expect(refusal.reason).toBe(reason);
    if (typeof detail === "string") expect(refusal.detail).toBe(detail);
    else expect(refusal.detail).toMatch(detail);
    expectCounted(reason);
  });

  test("signature: a token without a kid that none of several keys verifies", async () => {
    const [first, second] = [await signingKey("ES256"), await signingKey("ES256")];
    const two = startProvider(first, second);
    const other = admission({ AUTH_JWKS_URI: two.uri });
    await other.start();
    await waitFor(() => other.ready());
    const bare = (payload: JWTPayload, by: SigningKey) => sign(by, payload, { kid: undefined });
    const unknown = await bare(claims(), await signingKey("ES256"));
    expect((await other.refusal("user", bearer(unknown))).reason).toBe("signature");
    const stale = await bare(claims({ exp: 1 }), second);
    expect((await other.refusal("user", bearer(stale))).reason).toBe("expired");
    await Promise.all([other.close(), two.stop()]);
  });

  test("algorithm: an unsigned token, before its claims are read", async () => {
    const token = `${new UnsecuredJWT(claims()).encode()}c2ln`;
    expect((await gate.refusal("user", bearer(token))).reason).toBe("algorithm");
  });
});

// GW-163
describe("a request is refused for", () => {
  test("missing: no credential, or one in a header that the route does not accept", async () => {
    expect((await gate.refusal("user", {})).detail).toBe(
      "A route of user scope accepts X-API-Key or Authorization: Bearer.",
    );
    const token = bearer(await sign(main, claims()));
    expect((await gate.refusal("organization", token)).detail).toBe(
      "A route of organization scope accepts X-API-Key. The Authorization header is not accepted here.",
    );
    expect((await gate.refusal("user", { authorization: "Basic eDp5" })).reason).toBe("missing");
    expectCounted("missing", 3);
  });

  test("realm: a member's key on a route of scope user", async () => {
    expect(await gate.refusal("user", key(MEMBER_KEY))).toMatchObject({
      reason: "realm",
      detail: "The credential belongs to a member of an organization; the route has user scope.",
    });
  });

  test("api_key: a key that identity refuses, also from the cache, or a key of unknown form", async () => {
    const unknown = credential("k-2");
    for (const text of [unknown, unknown, "garbage"]) {
      expect((await gate.refusal("user", key(text))).reason).toBe("api_key");
    }
    expectCounted("api_key", 3);
  });
});

test("an admitted request counts no reason, and every reason has a test", async () => {
  expect(await gate.verdict("user", bearer(await sign(main, claims())))).toBe("admitted");
  expect(gate.counted()).toEqual(before);
  const tested = new Set<string>([...rows.map(([reason]) => reason), "missing", "realm", "api_key"]);
  expect(Object.keys(before).filter((reason) => !tested.has(reason))).toEqual([]);
});
