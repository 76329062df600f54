/** Tests the sign-in page of the toy identity provider, which the portal uses in the quick start. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type IdentityProvider, startIdentityProvider } from "@ostiary/demo";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

const Tokens = Type.Object({ id_token: Type.String(), token_type: Type.String() });

const VERIFIER = "v".repeat(43);
const CHALLENGE = new Bun.CryptoHasher("sha256").update(VERIFIER).digest("base64url");
const BACK = "http://127.0.0.1:5001/portal/signed-in";

let provider: IdentityProvider;
beforeAll(async () => {
  provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 });
});
afterAll(() => provider.stop());

const ASKED = {
  response_type: "code",
  client_id: "portal",
  redirect_uri: BACK,
  state: "the-state",
  nonce: "the-nonce",
  code_challenge: CHALLENGE,
  code_challenge_method: "S256",
};

const authorize = (changed: Record<string, string> = {}, init: RequestInit = {}) =>
  fetch(`${provider.issuer}/authorize?${new URLSearchParams({ ...ASKED, ...changed })}`, {
    redirect: "manual",
    ...init,
  });
const choose = (subject: string) =>
  authorize({}, { method: "POST", body: new URLSearchParams({ subject }).toString() });

async function codeOf(response: Response): Promise<string> {
  const back = new URL(response.headers.get("location") ?? "");
  expect(`${back.origin}${back.pathname}`).toBe(BACK);
  expect([back.searchParams.get("state"), back.searchParams.get("iss")]).toEqual([
    "the-state",
    provider.issuer,
  ]);
  return back.searchParams.get("code") ?? "";
}

const exchange = (code: string, changed: Record<string, string> = {}) => {
  const body = { grant_type: "authorization_code", code, client_id: "portal", redirect_uri: BACK };
  return fetch(`${provider.issuer}/authorize/token`, {
    method: "POST",
    body: new URLSearchParams({ ...body, code_verifier: VERIFIER, ...changed }).toString(),
  });
};

describe("the toy provider", () => {
  test("exchanges a code and its verifier for an ID token and an access token, once", async () => {
    const code = await codeOf(await choose(`<b>"ada"`));
    const response = await exchange(code);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    const { id_token, token_type } = Value.Decode(Tokens, await response.json());
    const claims = JSON.parse(Buffer.from(id_token.split(".")[1] ?? "", "base64url").toString());
    expect(claims).toMatchObject({
      iss: provider.issuer,
      sub: `<b>"ada"`,
      aud: "portal",
      nonce: "the-nonce",
    });
    expect(token_type).toBe("Bearer");
    const again = await exchange(code);
    expect([again.status, await again.json()]).toEqual([400, { error: "invalid_grant" }]);
  });

  test.each([
    ["verifier", { code_verifier: "w".repeat(43) }],
    ["client", { client_id: "another" }],
    ["return address", { redirect_uri: "http://127.0.0.1:5001/portal" }],
    ["kind of grant", { grant_type: "client_credentials" }],
  ])("refuses a code with another %s", async (_what, changed) => {
    expect((await exchange(await codeOf(await choose("ada")), changed)).status).toBe(400);
  });

  test.each([
    ["redirect_uri", "https://evil.example.com/"],
    ["redirect_uri", "javascript:alert(1)"],
    ["redirect_uri", "http://127.0.0.1:5001/portal/signed-in/x"],
    ["code_challenge_method", "plain"],
    ["code_challenge", "short"],
    ["response_type", "token"],
    ["client_id", ""],
  ])("refuses the %s %p without a redirect", async (name, value) => {
    const response = await authorize({ [name]: value });
    expect([response.status, response.headers.get("location")]).toEqual([400, null]);
  });

  test("asks for a name without a session, and returns login_required with prompt=none", async () => {
    expect(await (await authorize({ state: `"><script>1</script>` })).text()).not.toContain("<script>");
    const silent = new URL((await authorize({ prompt: "none" })).headers.get("location") ?? "");
    expect(silent.searchParams.get("error")).toBe("login_required");
  });

  test("ends a session without a redirect to another page", async () => {
    const end = `${provider.issuer}/authorize/end?post_logout_redirect_uri=https://evil.example.com/`;
    expect((await fetch(end, { redirect: "manual" })).headers.get("location")).toBeNull();
  });
});
