/** Tests whose tokens a page accepts at a renewal, against a provider that responds over HTTP. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { generateKeyPair, SignJWT } from "jose";
import { ProviderSession } from "../../../lib/page/sign-in/provider-session.ts";

/** The subject of the ID token of the next token response. Null for a response without an ID token. */
let subject: string | null = "ada";
let nonce = "";
let given = 0;
let provider: Bun.Server<undefined>;
const issuer = () => provider.url.origin;

beforeAll(async () => {
  const { privateKey } = await generateKeyPair("ES256");
  const signedFor = (sub: string) =>
    new SignJWT({ nonce, name: sub })
      .setProtectedHeader({ alg: "ES256" })
      .setIssuer(issuer())
      .setAudience("portal")
      .setSubject(sub)
      .setIssuedAt()
      .setExpirationTime("1h")
      .sign(privateKey);
  provider = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    routes: {
      "/.well-known/openid-configuration": () =>
        Response.json({
          issuer: issuer(),
          authorization_endpoint: `${issuer()}/authorize`,
          token_endpoint: `${issuer()}/token`,
          id_token_signing_alg_values_supported: ["ES256"],
        }),
      "/token": async () =>
        Response.json({
          access_token: `access ${++given}`,
          refresh_token: `refresh ${given}`,
          token_type: "Bearer",
          expires_in: 3_600,
          ...(subject !== null && { id_token: await signedFor(subject) }),
        }),
    },
  });
});
afterAll(() => provider.stop(true));

/** The browser's storage of the tab. */
const tab = new Map<string, string>();
/** The parts of the browser that a sign-in uses. */
const page = { origin: "http://page.test", hash: "#/keys", search: "", pathname: "/portal/signed-in" };
beforeEach(() => {
  tab.clear();
  given = 0;
  Object.assign(globalThis, {
    isSecureContext: true,
    history: { replaceState: () => {} },
    location: {
      ...page,
      assign: (address: URL) => {
        nonce = address.searchParams.get("nonce") ?? "";
        Object.assign(location, {
          search: `?${new URLSearchParams({ code: "code", state: address.searchParams.get("state") ?? "" })}`,
        });
      },
    },
    sessionStorage: {
      getItem: (key: string) => tab.get(key) ?? null,
      setItem: (key: string, value: string) => tab.set(key, value),
      removeItem: (key: string) => tab.delete(key),
    },
  });
});

/** Returns the session of a page where Ada is signed in. */
async function signedIn(): Promise<ProviderSession> {
  subject = "ada";
  const settings = { issuer: issuer(), client_id: "portal", scopes: "openid", audience: null };
  const session = new ProviderSession([settings], "/portal");
  expect(await session.begin(false)).toBeNull();
  expect(await session.finish()).toBe("ada");
  session.remember();
  return session;
}

describe("a renewed token", () => {
  // PT-15
  test.each(["ada", null])("is used when its ID token is for %p", async (renewed) => {
    const session = await signedIn();
    subject = renewed;
    expect(await session.currentToken(true)).toEqual({ ok: true, token: "access 2" });
    expect(await session.currentToken(false)).toEqual({ ok: true, token: "access 2" });
  });

  // PT-15
  test("of another person ends the sign-in, and none of its tokens is used", async () => {
    const session = await signedIn();
    subject = "eve";
    const both = [session.currentToken(true), session.currentToken(true)];
    const over = { ok: false, reason: "over" } as const;
    expect(await Promise.all(both)).toEqual([over, over]);
    subject = "ada";
    expect(await session.currentToken(false)).toEqual(over);
    expect([given, session.wasSignedIn, tab.size]).toEqual([2, false, 0]);
  });

  // PT-15
  test("of another person is refused also after a renewal without an ID token", async () => {
    const session = await signedIn();
    subject = null;
    await session.currentToken(true);
    subject = "eve";
    expect(await session.currentToken(true)).toEqual({ ok: false, reason: "over" });
  });
});
