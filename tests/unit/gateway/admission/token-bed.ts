import { afterAll, afterEach, beforeAll } from "bun:test";
import type { JWTPayload } from "jose";
import { person } from "../../../support/gateway/identity-stand-in.ts";
import { waitFor } from "../../../support/index.ts";
import {
  type ProviderStandIn,
  type SigningKey,
  signingKey,
  startProvider,
} from "../../../support/pages/provider-stand-in.ts";
import { type Admission, admission, ISSUER } from "./bed.ts";

export const ALGORITHMS = "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519".split(" ");

/** Starts an identity provider with a key for each algorithm, and stops it after the tests of a file. */
export function tokenBed() {
  let keys: readonly SigningKey[];
  let stranger: SigningKey;
  let provider: ProviderStandIn;
  let gate: Admission;

  beforeAll(async () => {
    keys = await Promise.all(ALGORITHMS.map((alg) => signingKey(alg, `kid-${alg}`)));
    stranger = await signingKey("ES256", "kid-ES256");
    provider = startProvider(...keys);
  });
  afterAll(() => provider.stop());
  afterEach(() => gate.close());

  const keyFor = (alg: string): SigningKey => {
    const key = keys.find((each) => each.alg === alg);
    if (key === undefined) throw new Error(`No key for ${alg}.`);
    return key;
  };
  const seconds = () => gate.time.now() / 1000;
  return {
    keyFor,
    seconds,
    /** The key that signs valid tokens. */
    get main() {
      return keyFor("ES256");
    },
    /** A key that the provider did not publish, with the id of a published key. */
    get stranger() {
      return stranger;
    },
    get provider() {
      return provider;
    },
    /** The authenticator that the test opened last. Its clock sets the times in tokens. */
    get gate() {
      return gate;
    },
    async open(environment: Record<string, string> = {}): Promise<Admission> {
      gate = admission({ AUTH_JWKS_URI: provider.uri, ...environment });
      gate.identity.results.set("alice", person("u-alice"));
      await gate.start();
      await waitFor(() => gate.ready(), { pollMs: 1 });
      return gate;
    },
    claims: (more: JWTPayload = {}): JWTPayload => ({
      iss: ISSUER,
      sub: "alice",
      exp: seconds() + 3_600,
      ...more,
    }),
  };
}
