/** Tests that a token of one issuer never passes as a token of another. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RefusalReason } from "@ostiary/lib/runtime/tokens";
import type { JWTPayload } from "jose";
import { person } from "../../../support/gateway/identity-stand-in.ts";
import { waitFor } from "../../../support/index.ts";
import {
  type ProviderStandIn,
  type SigningKey,
  sign,
  signingKey,
  startProvider,
} from "../../../support/pages/provider-stand-in.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { type Admission, admission, bearer } from "./bed.ts";

const A = "https://a.example";
const B = "https://b.example";
const tenant = (tid: string) => `https://t.example/${tid}/v2.0`;
const anyTenant = (tid: string) => `https://${tid}.any.example`;

const folder = temporaryFolder("issuers");
let files = 0;

/** Keys of every provider. All of them have the kid `k`, except those of the provider of the templates. */
const newKey = (kid: string) => signingKey("ES256", kid);
const [ofA, ofB, ofT] = [await newKey("k"), await newKey("k"), await newKey("k")];
const [bareA, bareB] = [await signingKey("ES384"), await signingKey("ES384")];
const [onlyT1, templated] = [await newKey("only-t1"), await newKey("templated")];
const elsewhere = await newKey("elsewhere");
const naming = (key: SigningKey, issuer: unknown) => ({ ...key.jwk, issuer });

let a: ProviderStandIn;
let b: ProviderStandIn;
let t: ProviderStandIn;
let gate: Admission;

beforeAll(() => {
  [a, b, t] = [startProvider(ofA, bareA), startProvider(ofB, bareB), startProvider()];
  const named = [naming(onlyT1, tenant("t1")), naming(templated, tenant("{tenantid}")), naming(elsewhere, A)];
  t.respond = () => Response.json({ keys: [ofT.jwk, ...named] });
});
afterEach(() => gate.close());
afterAll(() => Promise.all([a.stop(), b.stop(), t.stop()]));

const entry = (issuer: string, { uri }: ProviderStandIn, more: object = {}) => ({
  ...{ issuer, jwks_uri: uri, audiences: ["web"], user_id_claim: "sub" },
  ...more,
});
const entries = () => [
  entry(A, a),
  entry(B, b, { audiences: ["mobile"], user_id_claim: "properties.id" }),
  entry(tenant("{tenantid}"), t, { tenants: ["t1", "t2"] }),
  entry(anyTenant("{tenantid}"), t, { tenants: "any" }),
];

function open(issuers: object[] = entries()): Admission {
  files += 1;
  const path = join(folder, `${files}.yaml`);
  writeFileSync(path, JSON.stringify({ issuers }));
  gate = admission({ AUTH_ISSUER: "", AUTH_ISSUERS_FILE: path });
  gate.identity.results.set("ada", person("u-ada"));
  return gate;
}

const loads = () => gate.lines.filter((line) => line.startsWith("the key set is loaded")).length;

async function start(): Promise<void> {
  open();
  await gate.start();
  await waitFor(() => loads() === entries().length, { pollMs: 1 });
}

const tokenOf = (key: SigningKey, claims: JWTPayload) =>
  sign(key, { sub: "ada", aud: "web", exp: gate.time.now() / 1000 + 3_600, ...claims });

const forB = { iss: B, aud: "mobile", properties: { id: "ada" } };
const forTenant = (tid: string) => ({ iss: tenant(tid), tid });

type Row = [what: string, key: SigningKey, claims: JWTPayload, outcome: { issuer: string } | RefusalReason];
const rows: Row[] = [
  ["the first issuer", ofA, { iss: A }, { issuer: A }],
  ["the second issuer, with the same kid and another claim", ofB, forB, { issuer: B }],
  ["the first issuer by a key without a kid", bareA, { iss: A }, { issuer: A }],
  ["a tenant", ofT, forTenant("t1"), { issuer: tenant("t1") }],
  ["any tenant", ofT, { iss: anyTenant("x-9"), tid: "x-9" }, { issuer: anyTenant("x-9") }],
  ["an exact issuer, whatever its tid", ofA, { iss: A, tid: "t1" }, { issuer: A }],

  ["the first issuer by a key of the second, with the same kid", ofB, { iss: A }, "signature"],
  ["the second issuer by a key of the first, with the same kid", ofA, forB, "signature"],
  ["the first issuer by a key of the second without a kid", bareB, { iss: A }, "signature"],
  ["a tenant by a key of an exact issuer", ofA, forTenant("t1"), "signature"],
  ["an exact issuer by a key of the tenants", ofT, { iss: A }, "signature"],
  ["the first issuer for the audience of the second", ofA, { iss: A, aud: "mobile" }, "audience"],
  ["the second issuer with the user id claim of the first", ofB, { iss: B, aud: "mobile" }, "claim_missing"],
  ["both issuers", ofA, JSON.parse(`{"iss":["${A}","${B}"]}`), "issuer"],
  ["no issuer", ofA, {}, "claim_missing"],
  ["an unknown issuer", ofA, { iss: "https://c.example" }, "issuer"],
  ["an issuer named like a property", ofA, { iss: "constructor" }, "issuer"],

  ["a tenant without tid", ofT, { iss: tenant("t1") }, "issuer"],
  ["a tenant with the tid of another", ofT, { iss: tenant("t1"), tid: "t2" }, "issuer"],
  ["a tenant that is not listed", ofT, forTenant("t3"), "issuer"],
  ["the template itself with a listed tid", ofT, { iss: tenant("{tenantid}"), tid: "t1" }, "issuer"],
  ["an empty tid", ofT, { iss: anyTenant(""), tid: "" }, "issuer"],
  ["a tid with a slash", ofT, { iss: anyTenant("a/b"), tid: "a/b" }, "issuer"],
  ["a tid with a pattern of replacements", ofT, { iss: anyTenant("{tenantid}"), tid: "$&" }, "issuer"],
  ["a tid of 65 characters", ofT, { iss: anyTenant("x".repeat(65)), tid: "x".repeat(65) }, "issuer"],
  ["a tid in a list", ofT, JSON.parse(`{"iss":"${tenant("t1")}","tid":["t1"]}`), "issuer"],

  ["a tenant by the key for that tenant alone", onlyT1, forTenant("t1"), { issuer: tenant("t1") }],
  ["a tenant by the key for another tenant alone", onlyT1, forTenant("t2"), "key_not_found"],
  ["a tenant by a key for each tenant", templated, forTenant("t2"), { issuer: tenant("t2") }],
  ["any tenant by a key for another issuer", templated, { iss: anyTenant("t1"), tid: "t1" }, "key_not_found"],
  ["a tenant by a key for another issuer", elsewhere, forTenant("t1"), "key_not_found"],
  ["the issuer of a key that another provider publishes", elsewhere, { iss: A }, "key_not_found"],
];

// GW-44, GW-46, GW-230, GW-231, GW-232
describe("a token of", () => {
  test.each(rows)("%s", async (_, key, claims, outcome) => {
    await start();
    const token = bearer(await tokenOf(key, claims));
    if (typeof outcome === "string") {
      expect((await gate.refusal("user", token)).reason).toBe(outcome);
      expect(gate.identity.calls).toEqual([]);
    } else {
      expect(await gate.verdict("user", token)).toBe("admitted");
      expect(gate.identity.calls).toEqual([{ idp: { issuer: outcome.issuer, subject: "ada" } }]);
    }
  });
});

// GW-48, GW-57
test("one subject of four issuers is four persons in the cache", async () => {
  await start();
  const named = [
    [ofA, { iss: A }],
    [ofB, forB],
    [ofT, forTenant("t1")],
    [ofT, forTenant("t2")],
  ] as const;
  for (const [index, [key, claims]] of named.entries()) {
    gate.identity.results.set("ada", person(`u-${index}`));
    const token = bearer(await tokenOf(key, claims));
    expect(await gate.outcome("user", token)).toMatchObject({ user_id: `u-${index}` });
    expect(await gate.outcome("user", token)).toMatchObject({ user_id: `u-${index}` });
  }
  expect(gate.identity.calls).toHaveLength(4);
});

describe("the key sets", () => {
  const loaded = async () => {
    open();
    const { respond } = b;
    b.respond = () => new Response(null, { status: 500 });
    await gate.start();
    await waitFor(() => loads() === entries().length - 1, { pollMs: 1 });
    return () => {
      b.respond = respond;
    };
  };

  // GW-49, GW-50, GW-160
  test("load each by itself: the gateway is ready with one, and tokens of the others get 503", async () => {
    const heal = await loaded();
    await waitFor(() => gate.time.waiting().includes(2_000), { pollMs: 1 });
    expect(gate.ready()).toBeTrue();
    expect(await gate.verdict("user", bearer(await tokenOf(ofA, { iss: A })))).toBe("admitted");
    const later = bearer(await tokenOf(ofB, forB));
    expect(await gate.verdict("user", later)).toBe(503);
    const unknown = bearer(await tokenOf(ofB, { ...forB, iss: "https://c.example" }));
    expect(await gate.verdict("user", unknown)).toBe(401);
    heal();
    gate.time.advance(2_000);
    await waitFor(() => loads() === entries().length, { pollMs: 1 });
    expect(await gate.verdict("user", later)).toBe("admitted");
    expect(gate.lines.join("\n")).toContain(`"issuer":"${B}"`);
  });

  // GW-51
  test("are fetched again for an unknown kid each by itself", async () => {
    await start();
    const before = [a.fetches(), b.fetches(), t.fetches()];
    const turned = await signingKey("ES256", "turned");
    expect((await gate.refusal("user", bearer(await tokenOf(turned, forB)))).reason).toBe("key_not_found");
    const after = before.map((count, at) => count + Number(at === 1));
    expect([a.fetches(), b.fetches(), t.fetches()]).toEqual(after);
    a.publish(ofA, bareA, turned);
    expect(await gate.verdict("user", bearer(await tokenOf(turned, { iss: A })))).toBe("admitted");
    a.publish(ofA, bareA);
  });
});

// GW-232
test("a key whose issuer is not text, or is of another issuer, verifies nothing of a single issuer", async () => {
  for (const issuer of [7, null, ["https://login.example.com"], B]) {
    const provider = startProvider();
    provider.respond = () => Response.json({ keys: [naming(ofA, issuer), ofB.jwk] });
    gate = admission({ AUTH_JWKS_URI: provider.uri });
    gate.identity.results.set("ada", person("u-ada"));
    await gate.start();
    await waitFor(() => gate.ready(), { pollMs: 1 });
    const iss = "https://login.example.com";
    expect(await gate.verdict("user", bearer(await tokenOf(ofA, { iss })))).toBe(401);
    expect(await gate.verdict("user", bearer(await tokenOf(ofB, { iss })))).toBe("admitted");
    await Promise.all([gate.close(), provider.stop()]);
  }
});
