import { beforeEach, describe, expect, test } from "bun:test";
import { exportSPKI, importJWK, SignJWT } from "jose";
import { person } from "../../../support/gateway/identity-stand-in.ts";
import { type SigningKey, sign } from "../../../support/pages/provider-stand-in.ts";
import { bearer } from "./bed.ts";
import { tokenBed } from "./token-bed.ts";

const bed = tokenBed();
const { claims, keyFor, open } = bed;

// GW-42, GW-43, GW-44
describe("a hostile token gets 401 without a call to identity:", () => {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  /** Returns a token with the given header and payload, and the signature of a valid token. */
  const forged = async (header: object, payload: object = claims()) => {
    const [, , signature] = (await sign(bed.main, claims())).split(".");
    return `${encode(header)}.${encode(payload)}.${signature}`;
  };
  const secretSigned = (alg: string, secret: Uint8Array, header: object = {}) =>
    new SignJWT(claims()).setProtectedHeader({ alg, ...header }).sign(secret);
  const replaced = async (part: number, by: string) =>
    (await sign(bed.main, claims())).split(".").with(part, by).join(".");

  const rows: [what: string, token: () => string | Promise<string>][] = [
    ["alg none with a signature", () => forged({ alg: "none", kid: bed.main.kid })],
    [
      "HS256 with the public key in PEM as the secret",
      async () => {
        const pem = await exportSPKI(await publicKeyOf(keyFor("RS256")));
        return secretSigned("HS256", new TextEncoder().encode(pem), { kid: "kid-RS256" });
      },
    ],
    [
      "HS256 with the public JWK as the secret",
      () =>
        secretSigned("HS256", new TextEncoder().encode(JSON.stringify(bed.main.jwk)), { kid: bed.main.kid }),
    ],
    ["an algorithm that is not listed", () => forged({ alg: "ES256K", kid: bed.main.kid })],
    ["signed by a stranger under a known kid", () => sign(bed.stranger, claims())],
    ["a known kid with another algorithm", () => forged({ alg: "RS256", kid: bed.main.kid })],
    ["a kid that names a prototype", () => sign(bed.main, claims(), { kid: "__proto__" })],
    ["a kid that is not a string", () => forged({ alg: "ES256", kid: ["kid-ES256"] })],
    ["its own key in jwk", () => sign(bed.stranger, claims(), { kid: undefined, jwk: bed.stranger.jwk })],
    ["its own key set in jku", () => sign(bed.stranger, claims(), { jku: bed.provider.uri })],
    ["its own certificate in x5u", () => sign(bed.stranger, claims(), { x5u: bed.provider.uri })],
    ["an unencoded payload", () => forged({ alg: "ES256", kid: bed.main.kid, b64: false, crit: ["b64"] })],
    ["a changed payload", () => replaced(1, encode(claims({ sub: "admin" })))],
    ["no signature", () => replaced(2, "")],
    ["a signature of zeros", () => replaced(2, Buffer.alloc(64).toString("base64url"))],
    ["a header that is null", () => replaced(0, encode(null))],
    ["an additional part", async () => `${await sign(bed.main, claims())}.e30`],
    ["characters outside base64url", () => replaced(1, "<script>")],
    ["a valid token that is too long", () => sign(bed.main, claims({ padding: "x".repeat(7_000) }))],
    ["sixteen thousand dots", () => ".".repeat(16_000)],
  ];
  test.each(rows)("%s", async (_, make) => {
    const { identity, verdict } = await open();
    expect(await verdict("user", bearer(await make()))).toBe(401);
    expect(identity.calls).toEqual([]);
  });

  async function publicKeyOf(key: SigningKey): Promise<CryptoKey> {
    const imported = await importJWK(key.jwk, key.alg, { extractable: true });
    if (imported instanceof Uint8Array) throw new Error("The import returned a secret, not a public key.");
    return imported;
  }
});

// GW-42
describe("a token has only one valid encoding:", () => {
  beforeEach(() => open());
  const signed = async () => (await sign(keyFor("RS256"), claims())).split(".");
  const admittedOnly = async (token: string, changed: string) => {
    expect(await bed.gate.verdict("user", bearer(token))).toBe("admitted");
    expect(changed).not.toBe(token);
    expect(await bed.gate.verdict("user", bearer(changed))).toBe(401);
  };
  const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  /** Changes the last character of a part only in bits that decoders ignore. */
  const nextInAlphabet = (text: string) => text.slice(0, -1) + ALPHABET[ALPHABET.indexOf(text.slice(-1)) + 1];

  test.each([0, 1, 2])("part %i with padding is refused", async (part) => {
    const parts = await signed();
    for (const padding of ["=", "=="]) {
      await admittedOnly(parts.join("."), parts.with(part, `${parts[part]}${padding}`).join("."));
    }
  });

  test("a signature with nonzero unused bits is refused", async () => {
    // The last base64url character of a 256-byte signature has two significant bits and four unused bits.
    const parts = await signed();
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
      const parts = (await sign(bed.main, claims({ jti: crypto.randomUUID() }))).split(".");
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
        const header = part(
          JSON.stringify({ alg: bed.main.alg, kid: bed.main.kid }),
          marked && where === "header",
        );
        const input = `${header}.${part(JSON.stringify(claims()), marked && where === "payload")}`;
        const algorithm = { name: "ECDSA", hash: "SHA-256" };
        const signature = await crypto.subtle.sign(algorithm, bed.main.privateKey, Buffer.from(input));
        return `${input}.${Buffer.from(signature).toString("base64url")}`;
      };
      expect(await bed.gate.verdict("user", bearer(await of(false)))).toBe("admitted");
      expect(await bed.gate.verdict("user", bearer(await of(true)))).toBe(401);
    },
  );
});

// GW-45, GW-46, GW-47
describe("a signed token is admitted or gets 401, and no other response, with a hostile value as its claim", () => {
  const long = ["x".repeat(255), "x".repeat(256), "x".repeat(3_000)];
  const texts = ["", " ", "\0", "a\0b", "a\n", "\x7f", "\x9f", "\ud800", "\ufffe", "\u2028", ...long];
  const values: unknown[] = [...texts, null, true, 0, -1, 1e308, [], ["alice"], {}, { toString: "alice" }];
  test.each<[claim: string, admitted: unknown[]]>([
    ["iss", []],
    ["sub", [" ", "\u2028", long[0]]],
    ["aud", []],
    ["exp", [1e308]],
    ["nbf", [0, -1]],
    ["iat", [0, -1, 1e308]],
    ["jti", values],
    ["tid", values],
  ])("%s", async (name, expected) => {
    const { identity, verdict } = await open({ AUTH_ALLOWED_AUDIENCES: "web" });
    for (const text of texts) identity.results.set(text, person());
    const admitted: unknown[] = [];
    for (const value of values) {
      const token = await sign(bed.main, { ...claims({ aud: "web" }), [name]: value });
      const result = await verdict("user", bearer(token));
      expect<unknown>([name, value, result]).toEqual([name, value, result === "admitted" ? result : 401]);
      if (result === "admitted") admitted.push(value);
    }
    expect(admitted).toEqual(expected);
  });
});

// GW-162
describe("the typ of a token", () => {
  const of = async (typ: unknown) => {
    const { verdict } = await open();
    return verdict("user", bearer(await sign(bed.main, claims(), { typ })));
  };

  test.each([undefined, "JWT", "jwt", "at+jwt", "application/at+jwt", "Application/JWT"])(
    "may be %s",
    async (typ) => expect(await of(typ)).toBe("admitted"),
  );

  test.each(["logout+jwt", "", "jwt ", "application/", null, 7, [["JWT"]]])(
    "must not be %j, which marks a token for another purpose",
    async (typ) => expect(await of(typ)).toBe(401),
  );
});
