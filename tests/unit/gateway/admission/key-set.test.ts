import { afterEach, describe, expect, test } from "bun:test";
import { exportJWK, type JWK } from "jose";
import { person } from "../../../support/gateway/identity-stand-in.ts";
import { waitFor } from "../../../support/index.ts";
import {
  type ProviderStandIn,
  type SigningKey,
  sign,
  signingKey,
  startProvider,
} from "../../../support/pages/provider-stand-in.ts";
import { type Admission, admission, bearer, ISSUER } from "./bed.ts";

/** RSA keys, which take long to generate. */
const [named, unnamed] = [await signingKey("RS256", "shared"), await signingKey("RS256")];
const [first, second] = [await signingKey("ES256", "first"), await signingKey("ES256", "second")];

const RSA = { name: "RSASSA-PKCS1-v1_5", publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" };
const short = await crypto.subtle.generateKey({ ...RSA, modulusLength: 1_024 }, true, ["sign", "verify"]);
/** An RSA key of half the accepted length. */
const HALF_LENGTH = await exportJWK(short.publicKey);

let gate: Admission;
let provider: ProviderStandIn;

function open(...published: SigningKey[]): Admission {
  provider = startProvider(...published);
  gate = admission({ AUTH_JWKS_URI: provider.uri });
  gate.identity.results.set("alice", person("u-alice"));
  return gate;
}
afterEach(() => Promise.all([gate.close(), provider.stop()]));

const tokenOf = (key: SigningKey, more: object = {}) =>
  sign(key, { iss: ISSUER, sub: "alice", exp: gate.time.now() / 1000 + 86_400, ...more });
const verdictOf = async (key: SigningKey, more: object = {}) =>
  gate.verdict("user", bearer(await tokenOf(key, more)));
const timerSet = () => waitFor(() => gate.time.waiting().length > 0, { pollMs: 1 });
const keySet = (...keys: unknown[]) => Response.json({ keys });
const down = () => new Response(null, { status: 500 });

async function loaded(...published: SigningKey[]): Promise<Admission> {
  open(...published);
  await start();
  return gate;
}

/** Loads the key set from a provider that calls `respond` for each request. */
async function loadedFrom(respond: ProviderStandIn["respond"]): Promise<void> {
  open();
  provider.respond = respond;
  await start();
}

async function start(): Promise<void> {
  await gate.start();
  await timerSet();
}

describe("the key set", () => {
  // GW-49, GW-50
  test("is requested every 2 s until it is loaded; until then JWTs get 503 and malformed tokens 401", async () => {
    const { time, ready, outcome, verdict, start } = open(first);
    provider.respond = down;
    await start();
    for (let fetches = 1; fetches <= 3; fetches++) {
      await timerSet();
      expect(provider.fetches()).toBe(fetches);
      expect(time.waiting()).toEqual([2_000]);
      expect(ready()).toBeFalse();
      const refused = await outcome("user", bearer(await tokenOf(first)));
      expect(refused).toMatchObject({ status: 503, kind: "auth" });
      expect(await verdict("user", bearer("garbage"))).toBe(401);
      if (fetches === 3) provider.publish(first);
      time.advance(2_000);
    }
    await waitFor(ready);
    expect(await verdictOf(first)).toBe("admitted");
  });

  // GW-49
  test("is loaded again every 15 minutes", async () => {
    const { time } = await loaded(first);
    expect(time.waiting()).toEqual([15 * 60_000]);
    provider.publish(second);
    time.advance(15 * 60_000);
    await timerSet();
    expect(provider.fetches()).toBe(2);
    expect(await verdictOf(second)).toBe("admitted");
    expect(await verdictOf(first)).toBe(401);
  });

  // GW-49
  test("is kept for hours while the identity provider is down", async () => {
    const { time, ready, lines } = await loaded(first);
    provider.respond = down;
    for (let refresh = 0; refresh < 12; refresh++) {
      time.advance(15 * 60_000);
      await timerSet();
    }
    expect(ready()).toBeTrue();
    expect(await verdictOf(first)).toBe("admitted");
    expect(lines.filter((line) => line.includes("could not load the key set")).length).toBe(12);
  });
});

describe("an unknown kid", () => {
  // GW-51
  test("causes one fetch of the key set, so that a new key works at once", async () => {
    await loaded(first);
    provider.publish(first, second);
    expect(await verdictOf(second)).toBe("admitted");
    expect(await verdictOf(first)).toBe("admitted");
    expect(provider.fetches()).toBe(2);
  });

  // GW-51
  test("causes at most one fetch in 10 s", async () => {
    const { time } = await loaded(first);
    expect(await verdictOf(second)).toBe(401);
    expect(provider.fetches()).toBe(2);
    provider.publish(second);
    time.advance(9_999);
    expect(await verdictOf(second)).toBe(401);
    expect(provider.fetches()).toBe(2);
    time.advance(1);
    expect(await verdictOf(second)).toBe("admitted");
    expect(provider.fetches()).toBe(3);
  });

  // GW-51
  test("causes a fetch after 10 s even if the clock was set back in the meantime", async () => {
    const { time } = await loaded(first);
    expect(await verdictOf(second)).toBe(401);
    provider.publish(second);
    time.advance(10_000);
    time.set(time.now() - 60_000);
    expect(await verdictOf(second)).toBe("admitted");
  });

  // GW-51
  test("causes one fetch for all tokens that arrive during the fetch", async () => {
    await loaded(first);
    const slow = Promise.withResolvers<Response>();
    provider.respond = () => slow.promise;
    const asked = Array.from({ length: 200 }, (_, at) => verdictOf(second, { jti: String(at) }));
    await waitFor(() => provider.fetches() === 2);
    slow.resolve(Response.json({ keys: [second.jwk] }));
    expect(new Set(await Promise.all(asked))).toEqual(new Set(["admitted"]));
    expect(provider.fetches()).toBe(2);
  });
});

describe("a hostile key set", () => {
  const responses: [what: string, respond: () => Response | Promise<Response>][] = [
    ["text that is not JSON", () => new Response("<html>")],
    ["no keys", () => Response.json({})],
    ["an empty list", () => keySet()],
    ["only keys of unknown kinds", () => keySet({ kty: "AKP", kid: "first" }, {}, null, 7, "x")],
    ["only a shared secret", () => keySet({ kty: "oct", k: "c2VjcmV0", alg: "HS256", kid: "first" })],
    ["a private key", async () => keySet({ ...(await exportJWK(first.privateKey)), kid: "first" })],
    [
      "a key that is nested too deeply",
      () =>
        new Response(
          `{"keys":[${JSON.stringify(first.jwk).slice(0, -1)},"x":${"[".repeat(9_000)}${"]".repeat(9_000)}}]}`,
        ),
    ],
    ["more than half a MiB", () => Response.json({ keys: [first.jwk], padding: "x".repeat(600 * 1024) })],
    ["a gzip bomb", () => bomb()],
  ];
  let bombText: Uint8Array<ArrayBuffer> | undefined;
  const bomb = () => {
    bombText ??= Bun.gzipSync(
      Buffer.from(JSON.stringify({ keys: [first.jwk], padding: "x".repeat(50_000_000) })),
    );
    return new Response(bombText, { headers: { "content-encoding": "gzip" } });
  };

  // GW-52
  test.each(responses)("with %s is not used, and does not replace a good key set", async (_, respond) => {
    const { time, ready, start } = open(first);
    provider.respond = respond;
    await start();
    await timerSet();
    expect(ready()).toBeFalse();
    provider.publish(first);
    time.advance(2_000);
    await timerSet();
    expect(ready()).toBeTrue();
    provider.respond = respond;
    time.advance(15 * 60_000);
    await timerSet();
    expect(provider.fetches()).toBe(3);
    expect(await verdictOf(first)).toBe("admitted");
  });

  // GW-52
  test("with good and bad keys verifies tokens only with the good keys", async () => {
    const short = { kty: "RSA", kid: "short", n: "AQAB", e: "AQAB" };
    const broken = { ...second.jwk, x: "AAAA" };
    await loadedFrom(() => keySet(null, 7, {}, short, { kty: "EC" }, broken, first.jwk));
    expect(await verdictOf(first)).toBe("admitted");
    expect(await verdictOf(second)).toBe(401);
  });

  // GW-52
  test("with a key for encryption does not verify tokens with that key", async () => {
    await loadedFrom(() => keySet({ ...first.jwk, use: "enc" }));
    expect(await verdictOf(first)).toBe(401);
  });

  const weak = (kid?: string) => ({ ...HALF_LENGTH, alg: "RS256", use: "sig", ...(kid && { kid }) });
  const hiding: [what: string, bad: (good: JWK) => object][] = [
    ["that is too weak", ({ kid }) => weak(kid)],
    ["whose numbers are not text", (good) => ({ ...good, n: 7 })],
    ["for encryption", (good) => ({ ...good, use: "enc" })],
    ["whose operations are not a list", (good) => ({ ...good, key_ops: "verify" })],
    ["of another kind", ({ alg, kid }) => ({ kty: "EC", crv: "P-256", x: "AAAA", y: "AAAA", alg, kid })],
  ];
  // GW-53
  describe.each(["with the same kid", "without a kid"])("a good key is found %s after a key", (naming) => {
    test.each(hiding)("%s", async (_, bad) => {
      const good = naming === "with the same kid" ? named : unnamed;
      await loadedFrom(() => keySet(bad(good.jwk), good.jwk, first.jwk));
      expect(await verdictOf(good)).toBe("admitted");
      expect(await verdictOf(first)).toBe("admitted");
    });
  });

  test("without algorithms is tried with every key that fits", async () => {
    const good = await signingKey("PS512");
    const { alg: _, use: __, ...bare } = good.jwk;
    const { alg: ___, ...bareWeak } = weak();
    await loadedFrom(() => keySet(bareWeak, bare));
    expect(await verdictOf(good)).toBe("admitted");
    expect(await verdictOf(good, { exp: 1 })).toBe(401);
  });

  test("with an unusable key is fetched again for its kid, as for a missing key", async () => {
    const good = await signingKey("RS256", "turned");
    await loadedFrom(() => keySet(weak("turned"), first.jwk));
    provider.publish(good, first);
    expect(await verdictOf(good)).toBe("admitted");
    expect(provider.fetches()).toBe(2);
  });

  // GW-53
  test("with two keys of one kid verifies tokens of either key", async () => {
    const twin = await signingKey("ES256", "first");
    await loaded(first, twin);
    expect(await verdictOf(first)).toBe("admitted");
    expect(await verdictOf(twin)).toBe("admitted");
  });
});

// GW-161
describe("admission without an identity provider", () => {
  test.each([
    ["AUTH_JWKS_URI", {}],
    ["AUTH_ISSUER", { AUTH_JWKS_URI: "http://127.0.0.1:1/", AUTH_ISSUER: "" }],
  ])("is never ready without %s, logs why, and JWTs get 503", async (_, environment) => {
    provider = startProvider();
    gate = admission(environment);
    await gate.start();
    expect(gate.ready()).toBeFalse();
    expect(gate.lines.join()).toContain("AUTH_ISSUER and AUTH_JWKS_URI");
    expect(await gate.verdict("user", bearer("e30.e30.c2ln"))).toBe(503);
  });
});
