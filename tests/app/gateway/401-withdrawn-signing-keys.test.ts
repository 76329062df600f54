/** Tests a whole gateway while the identity provider replaces its signing key (GW-51). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type LocalGateway, startLocalGateway } from "../../support/gateway/gateway.ts";
import { type IdentityStandIn, startIdentity } from "../../support/gateway/identity-stand-in.ts";
import { waitFor } from "../../support/index.ts";
import {
  type ProviderStandIn,
  type SigningKey,
  sign,
  signingKey,
  startProvider,
} from "../../support/pages/provider-stand-in.ts";

const ISSUER = "https://login.example.com";

const upstream = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("ok") });
let identity: IdentityStandIn;
let provider: ProviderStandIn;
let gateway: LocalGateway;
let first: SigningKey;
let second: SigningKey;

beforeAll(async () => {
  [first, second] = await Promise.all([signingKey("ES256", "first"), signingKey("EdDSA", "second")]);
  identity = startIdentity();
  identity.results.set("alice", { valid: true, realm: "directory", user_id: "u1" });
  provider = startProvider(first);
  gateway = await startLocalGateway({
    AUTH_ISSUER: ISSUER,
    AUTH_JWKS_URI: provider.uri,
    CREDENTIAL_VALIDATE_URL: identity.url,
  });
  await gateway.publish({
    things: {
      url: `http://127.0.0.1:${upstream.port}`,
      user: { routes: [{ path: "/user", methods: ["GET"] }] },
    },
  });
  await waitFor(async () => (await fetch(`${gateway.internalUrl}/health/ready`)).ok);
});

afterAll(async () => {
  await gateway.close();
  await Promise.all([identity.stop(), provider.stop(), upstream.stop(true)]);
});

let issued = 0;
/** Sends a request with a new token, which is in no cache, and returns the status. */
async function statusWith(key: SigningKey): Promise<number> {
  const exp = Math.floor(Date.now() / 1000) + 3_600;
  const token = await sign(key, { iss: ISSUER, sub: "alice", exp, jti: String(++issued) });
  const response = await fetch(`${gateway.url}/user`, { headers: { authorization: `Bearer ${token}` } });
  await response.body?.cancel();
  return response.status;
}

// GW-51
test("a new key is trusted from its first token on, with one fetch for all requests, and a withdrawn key no longer", async () => {
  expect(await statusWith(first)).toBe(200);
  provider.publish(second);
  const crowd = await Promise.all(Array.from({ length: 50 }, () => statusWith(second)));
  expect(new Set(crowd)).toEqual(new Set([200]));
  expect(await statusWith(first)).toBe(401);
  // One fetch at the start and one for all tokens of the new key: fetches are at least 10 s apart.
  expect(provider.fetches()).toBe(2);
});
