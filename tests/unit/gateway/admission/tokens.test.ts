import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { exportSPKI, importJWK, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { person } from "../../../support/identity-stand-in.ts";
import { waitFor } from "../../../support/index.ts";
import {
  type ProviderStandIn,
  type SigningKey,
  sign,
  signingKey,
  startProvider,
} from "../../../support/provider-stand-in.ts";
import { type Admission, admission, bearer, ISSUER } from "./harness.ts";

const ALGORITHMS = "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA".split(" ");

let keys: Map<string, SigningKey>;
let main: SigningKey;
let stranger: SigningKey;
let provider: ProviderStandIn;
/** The admission that the test has opened last. A token needs its clock. */
let gate: Admission;

beforeAll(async () => {
  const made = await Promise.all(ALGORITHMS.map((alg) => signingKey(alg, `kid-${alg}`)));
  keys = new Map(made.map((key) => [key.alg, key]));
  main = keyFor("ES256");
  stranger = await signingKey("ES256", main.kid);
  provider = startProvider(...keys.values());
});
afterAll(() => provider.stop());
afterEach(() => gate.close());

function keyFor(alg: string): SigningKey {
  const key = keys.get(alg);
  if (key === undefined) throw new Error(`No key for ${alg}.`);
  return key;
}

async function open(environment: Record<string, string> = {}): Promise<Admission> {
  gate = admission({ AUTH_JWKS_URI: provider.uri, ...environment });
  gate.identity.results.set("alice", person("u-alice"));
  await gate.start();
  await waitFor(() => gate.ready());
  return gate;
}

const seconds = () => gate.time.now() / 1000;
const claims = (more: JWTPayload = {}): JWTPayload => ({
  iss: ISSUER,
  sub: "alice",
  exp: seconds() + 3_600,
  ...more,
});

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

  // GW-39
  test("is no proof on organization and member routes, and identity is not called", async () => {
    const { identity, verdict } = await open();
    const token = await sign(main, claims());
    expect(await verdict("organization", bearer(token))).toBe(401);
    expect(await verdict("member", bearer(token))).toBe(401);
    expect(identity.calls).toEqual([]);
  });

  // GW-36
  test("is read after Bearer in any case and with any number of spaces", async () => {
    const { verdict } = await open();
    const token = await sign(main, claims());
    for (const scheme of ["Bearer", "bearer", "BEARER", "Bearer  "]) {
      expect(await verdict("user", { authorization: `${scheme} ${token}` })).toBe("admitted");
    }
    expect(await verdict("user", { authorization: `Bearer ${token}, Bearer ${token}` })).toBe(401);
  });

  // GW-48
  test("of a person whom identity refuses is 401", async () => {
    const { verdict } = await open();
    expect(await verdict("user", bearer(await sign(main, claims({ sub: "mallory" }))))).toBe(401);
  });

  test("that identity answers with a membership is 503", async () => {
    const { identity, verdict } = await open();
    identity.override = () =>
      Response.json({
        valid: true,
        realm: "organization",
        organization_id: "o1",
        member_id: "m1",
        labels: [],
      });
    expect(await verdict("user", bearer(await sign(main, claims())))).toBe(503);
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
    ["another issuer", () => ({ iss: "https://evil.example.com" }), 401],
    ["an issuer with a slash more", () => ({ iss: `${ISSUER}/` }), 401],
    ["no issuer", () => ({ iss: undefined }), 401],
    ["an empty subject", () => ({ sub: "" }), 401],
    ["no subject", () => ({ sub: undefined }), 401],
    ["any audience when none is configured", () => ({ aud: "whoever" }), "admitted"],
  ];
  // GW-45, GW-46
  test.each(rows)("with %s", async (_, change, expected) => {
    const { verdict } = await open();
    expect(await verdict("user", bearer(await sign(main, claims(change()))))).toBe(expected);
  });

  // GW-45, GW-47
  test.each([
    ["exp", '"soon"'],
    ["exp", "null"],
    ["nbf", '"soon"'],
    ["iss", '["https://login.example.com"]'],
    ["sub", "42"],
    ["sub", '["alice"]'],
    ["sub", '{"toString":"alice"}'],
  ])("with %s of a wrong type, %s, are 401", async (name, json) => {
    const { verdict } = await open();
    expect(await verdict("user", bearer(await sign(main, { ...claims(), [name]: JSON.parse(json) })))).toBe(
      401,
    );
  });

  // GW-46
  test("must name an allowed audience when some are configured", async () => {
    const { verdict } = await open({ AUTH_ALLOWED_AUDIENCES: "web, mobile ,," });
    const of = async (aud: JWTPayload["aud"]) => verdict("user", bearer(await sign(main, claims({ aud }))));
    expect(await of("web")).toBe("admitted");
    expect(await of("mobile")).toBe("admitted");
    expect(await of(["other", "mobile"])).toBe("admitted");
    expect(await of("other")).toBe(401);
    expect(await of(["other"])).toBe(401);
    expect(await of([])).toBe(401);
    expect(await of("web, mobile")).toBe(401);
    expect(await of(undefined)).toBe(401);
  });

  // GW-47
  test("name the person by AUTH_USER_ID_CLAIM, whose dots descend", async () => {
    const { identity, verdict } = await open({ AUTH_USER_ID_CLAIM: "properties.user_id" });
    const of = async (more: JWTPayload) => verdict("user", bearer(await sign(main, claims(more))));
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
    "count only themselves: the claim path %s finds nothing inherited",
    async (path) => {
      const { verdict } = await open({ AUTH_USER_ID_CLAIM: path });
      expect(await verdict("user", bearer(await sign(main, claims())))).toBe(401);
    },
  );
});

// GW-42, GW-43, GW-44
describe("a hostile token is 401 without a call to identity:", () => {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  /** Returns a token with this header and payload, and the signature of a valid token. */
  const forged = async (header: object, payload: object = claims()) => {
    const [, , signature] = (await sign(main, claims())).split(".");
    return `${encode(header)}.${encode(payload)}.${signature}`;
  };
  const secretSigned = (alg: string, secret: Uint8Array, header: object = {}) =>
    new SignJWT(claims()).setProtectedHeader({ alg, ...header }).sign(secret);
  const replaced = async (part: number, by: string) =>
    (await sign(main, claims())).split(".").with(part, by).join(".");

  const rows: [what: string, token: () => string | Promise<string>][] = [
    ["alg none, unsigned", () => new UnsecuredJWT(claims()).encode()],
    ["alg none with a signature", () => forged({ alg: "none", kid: main.kid })],
    ["alg None with a signature", () => forged({ alg: "None", kid: main.kid })],
    [
      "HS256 with the public key in PEM for a secret",
      async () => {
        const pem = await exportSPKI(await publicKeyOf(keyFor("RS256")));
        return secretSigned("HS256", new TextEncoder().encode(pem), { kid: "kid-RS256" });
      },
    ],
    [
      "HS256 with the public JWK for a secret",
      () => secretSigned("HS256", new TextEncoder().encode(JSON.stringify(main.jwk)), { kid: main.kid }),
    ],
    ["HS512", () => secretSigned("HS512", new Uint8Array(64))],
    ["an algorithm that is not listed", () => forged({ alg: "ES256K", kid: main.kid })],
    ["an algorithm of no meaning", () => forged({ alg: { toString: "ES256" }, kid: main.kid })],
    ["no algorithm", () => forged({ kid: main.kid })],
    ["signed by a stranger under a known kid", () => sign(stranger, claims())],
    ["a known kid with another algorithm", () => forged({ alg: "RS256", kid: main.kid })],
    ["an unknown kid", () => sign(main, claims(), { kid: "unknown" })],
    ["a kid that is a path", () => sign(main, claims(), { kid: "../../../../dev/null" })],
    ["a kid that is a query", () => sign(main, claims(), { kid: "' or 1=1 --" })],
    ["a kid that names a prototype", () => sign(main, claims(), { kid: "__proto__" })],
    ["a kid that is not a string", () => forged({ alg: "ES256", kid: ["kid-ES256"] })],
    ["its own key in jwk", () => sign(stranger, claims(), { kid: undefined, jwk: stranger.jwk })],
    ["its own key set in jku", () => sign(stranger, claims(), { jku: provider.uri })],
    ["its own certificate in x5u", () => sign(stranger, claims(), { x5u: provider.uri })],
    [
      "an unknown critical header",
      () =>
        new SignJWT(claims())
          .setProtectedHeader({ alg: main.alg, kid: main.kid, crit: ["exp2"], exp2: 1 })
          .sign(main.privateKey, { crit: { exp2: true } }),
    ],
    ["an unencoded payload", () => forged({ alg: "ES256", kid: main.kid, b64: false, crit: ["b64"] })],
    ["a changed payload", () => replaced(1, encode(claims({ sub: "admin" })))],
    ["no signature", () => replaced(2, "")],
    ["an empty payload", () => replaced(1, "")],
    ["a signature of zeros", () => replaced(2, Buffer.alloc(64).toString("base64url"))],
    ["a payload that is a list", () => forged({ alg: "ES256", kid: main.kid }, [])],
    ["a header that is not JSON", () => replaced(0, "e30x")],
    ["a header that is a list", () => replaced(0, encode([]))],
    ["a header that is null", () => replaced(0, encode(null))],
    ["a part too many", async () => `${await sign(main, claims())}.e30`],
    ["a part too few", async () => (await sign(main, claims())).split(".").slice(0, 2).join(".")],
    ["five parts, as an encrypted one", async () => `${await sign(main, claims())}.e30.e30`],
    ["dots alone", () => ".."],
    ["text", () => "garbage"],
    ["characters outside base64url", () => replaced(1, "<script>")],
    ["a valid token that is too long", () => sign(main, claims({ padding: "x".repeat(7_000) }))],
    ["sixteen thousand dots", () => ".".repeat(16_000)],
  ];
  test.each(rows)("%s", async (_, make) => {
    const { identity, verdict } = await open();
    expect(await verdict("user", bearer(await make()))).toBe(401);
    expect(identity.calls).toEqual([]);
  });

  async function publicKeyOf(key: SigningKey): Promise<CryptoKey> {
    const imported = await importJWK(key.jwk, key.alg, { extractable: true });
    if (imported instanceof Uint8Array) throw new Error("A public key was expected.");
    return imported;
  }
});

// GW-42
describe("a token has one spelling", () => {
  beforeEach(() => open());
  const signed = async () => (await sign(keyFor("RS256"), claims())).split(".");
  const admittedOnly = async (token: string, changed: string) => {
    expect(await gate.verdict("user", bearer(token))).toBe("admitted");
    expect(changed).not.toBe(token);
    expect(await gate.verdict("user", bearer(changed))).toBe(401);
  };
  const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  /** Changes the unused bits of a part's last character, which decoders drop. */
  const nextInAlphabet = (text: string) => text.slice(0, -1) + ALPHABET[ALPHABET.indexOf(text.slice(-1)) + 1];

  test.each([0, 1, 2])("part %i with padding is refused", async (part) => {
    const parts = await signed();
    for (const padding of ["=", "=="]) {
      await admittedOnly(parts.join("."), parts.with(part, `${parts[part]}${padding}`).join("."));
    }
  });

  test("a signature with nonzero unused bits is refused", async () => {
    const parts = await signed(); // 256 bytes: the last character holds two bits
    await admittedOnly(parts.join("."), parts.with(2, nextInAlphabet(parts[2] ?? "")).join("."));
  });

  test("a signature with white space is refused", async () => {
    const parts = await signed();
    await admittedOnly(
      parts.join("."),
      parts.with(2, `${parts[2]?.slice(0, 9)} ${parts[2]?.slice(9)}`).join("."),
    );
  });

  test("a signature with + and / instead of - and _ is refused", async () => {
    for (;;) {
      const parts = (await sign(main, claims({ jti: crypto.randomUUID() }))).split(".");
      const other = parts[2]?.replaceAll("-", "+").replaceAll("_", "/");
      if (other === undefined || other === parts[2]) continue;
      await admittedOnly(parts.join("."), parts.with(2, other).join("."));
      return;
    }
  });

  test.each(["header", "payload"])(
    "a byte order mark in the %s is refused, although it is signed",
    async (where) => {
      const part = (text: string, marked: boolean) =>
        Buffer.from(marked ? `\uFEFF${text}` : text).toString("base64url");
      const of = async (marked: boolean) => {
        const header = part(JSON.stringify({ alg: main.alg, kid: main.kid }), marked && where === "header");
        const input = `${header}.${part(JSON.stringify(claims()), marked && where === "payload")}`;
        const algorithm = { name: "ECDSA", hash: "SHA-256" };
        const signature = await crypto.subtle.sign(algorithm, main.privateKey, Buffer.from(input));
        return `${input}.${Buffer.from(signature).toString("base64url")}`;
      };
      expect(await gate.verdict("user", bearer(await of(false)))).toBe("admitted");
      expect(await gate.verdict("user", bearer(await of(true)))).toBe(401);
    },
  );
});

// GW-162
describe("the typ of a token", () => {
  const of = async (typ: unknown) => {
    const { verdict } = await open();
    return verdict("user", bearer(await sign(main, claims(), { typ })));
  };

  test.each([undefined, "JWT", "jwt", "at+jwt", "AT+JWT", "application/at+jwt", "Application/JWT"])(
    "may be %s",
    async (typ) => expect(await of(typ)).toBe("admitted"),
  );

  test.each([
    "logout+jwt",
    "secevent+jwt",
    "dpop+jwt",
    "ID",
    "",
    "jwt ",
    "application/",
    "text/jwt",
    null,
    7,
    [["JWT"]],
  ])("must not be %j: such a token was made for another purpose", async (typ) =>
    expect(await of(typ)).toBe(401),
  );
});

// GW-53
describe("a token without a kid", () => {
  test("is tried with every key that its algorithm fits", async () => {
    const [first, second] = [await signingKey("ES256", "a"), await signingKey("ES256", "b")];
    const two = startProvider(first, second);
    const { verdict } = await open({ AUTH_JWKS_URI: two.uri });
    const bare = (key: SigningKey) => sign(key, claims(), { kid: undefined });
    expect(await verdict("user", bearer(await bare(first)))).toBe("admitted");
    expect(await verdict("user", bearer(await bare(second)))).toBe("admitted");
    expect(await verdict("user", bearer(await bare(stranger)))).toBe(401);
    await two.stop();
  });
});

describe("the cache", () => {
  // GW-59
  test("answers a token that was verified before at once, without a promise", async () => {
    const { authenticate, verdict } = await open();
    const token = await sign(main, claims());
    await verdict("user", bearer(token));
    expect(authenticate("user", bearer(token))).toMatchObject({ user_id: "u-alice" });
  });

  // GW-59
  test("holds a verified token until it expires, whatever happens to the key set", async () => {
    const { time, verdict } = await open();
    const token = await sign(main, claims({ exp: seconds() + 100 }));
    await verdict("user", bearer(token));
    time.advance(99_000);
    expect(await verdict("user", bearer(token))).toBe("admitted");
    time.advance(31_000);
    expect(await verdict("user", bearer(token))).toBe(401);
  });

  // GW-57
  test("asks identity for a person again after APIKEY_CACHE_TTL_SECS", async () => {
    const { identity, time, verdict } = await open({ APIKEY_CACHE_TTL_SECS: "10" });
    const tokens = [await sign(main, claims()), await sign(main, claims({ jti: "2" }))];
    for (const token of tokens) expect(await verdict("user", bearer(token))).toBe("admitted");
    expect(identity.calls).toHaveLength(1);
    identity.results.set("alice", { valid: false });
    time.advance(10_000);
    for (const token of tokens) expect(await verdict("user", bearer(token))).toBe(401);
    expect(identity.calls).toHaveLength(2);
  });

  // GW-60
  test("lets a thousand concurrent misses of one person share one call", async () => {
    const { identity, verdict } = await open();
    const tokens = await Promise.all(
      Array.from({ length: 20 }, (_, at) => sign(main, claims({ jti: String(at) }))),
    );
    const asked = tokens.flatMap((token) => Array.from({ length: 50 }, () => verdict("user", bearer(token))));
    expect(new Set(await Promise.all(asked))).toEqual(new Set(["admitted"]));
    expect(identity.calls).toHaveLength(1);
  });

  test("does not hold 503", async () => {
    const { identity, verdict } = await open();
    const token = await sign(main, claims());
    identity.override = () => new Response(null, { status: 503 });
    expect(await verdict("user", bearer(token))).toBe(503);
    identity.override = null;
    expect(await verdict("user", bearer(token))).toBe("admitted");
  });
});
