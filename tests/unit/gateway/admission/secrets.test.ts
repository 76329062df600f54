import { afterAll, expect, test } from "bun:test";
import { ApiError } from "@ostiary/lib/domain/errors";
import { waitFor } from "../../../support/index.ts";
import { sign, signingKey, startProvider } from "../../../support/pages/provider-stand-in.ts";
import { admission, bearer, config, credential, ISSUER, key, type Presented } from "./bed.ts";

const { VALIDATE_TIMEOUT_MS } = config({});
const TOKEN = "inner-token-of-the-house";
const signer = await signingKey("ES256", "one");
const provider = startProvider(signer);
const gate = admission({ AUTH_JWKS_URI: provider.uri, INTERNAL_AUTH_TOKEN: TOKEN });
afterAll(() => Promise.all([gate.close(), provider.stop()]));

/** Returns all text of an error that could reach a log or a response: its message, stack and properties. */
function everythingIn(error: unknown): string {
  return (
    Bun.inspect(error, { depth: 20 }) +
    JSON.stringify(error, (_, value) => (value instanceof Error ? propertiesOf(value) : value))
  );
}

function propertiesOf(error: Error): object {
  return Object.fromEntries(
    Object.getOwnPropertyNames(error).map((name) => [name, Reflect.get(error, name)]),
  );
}

// OP-42
test("no error and no log line contains a credential, whatever fails", async () => {
  await gate.start();
  await waitFor(() => gate.ready());
  const apiKey = credential("k-2");
  const jwt = await sign(signer, { iss: ISSUER, sub: "alice", exp: gate.time.now() / 1000 + 60 });
  const stale = await sign(signer, { iss: ISSUER, sub: "alice", exp: 1 });
  const malformed = `acme-k-2-${"secret".repeat(9)}`;
  const presented: [Presented, string][] = [
    [key(apiKey), apiKey],
    [key(malformed), malformed],
    [bearer(jwt), jwt],
    [bearer(stale), stale],
    [bearer(apiKey), apiKey],
  ];
  const never = Promise.withResolvers<Response>();
  const moods = [
    null,
    () => new Response(null, { status: 500 }),
    () => Response.json({ valid: true, realm: "world", echo: apiKey, token: jwt }),
    () => new Response(`not json: ${apiKey} ${jwt}`),
    () => {
      gate.time.advance(VALIDATE_TIMEOUT_MS);
      return never.promise;
    },
  ];
  const seen: string[] = [];
  const collect = async () => {
    for (const [headers] of presented) {
      const outcome = await gate.outcome("user", headers);
      expect(outcome).toBeInstanceOf(ApiError);
      seen.push(everythingIn(outcome));
    }
  };
  for (const mood of moods) {
    gate.identity.override = mood;
    gate.time.advance(1_000_000);
    await collect();
  }
  never.resolve(new Response());
  await gate.identity.stop();
  gate.time.advance(1_000_000);
  await collect();

  const written = [...seen, ...gate.lines].join("\n");
  for (const [, secret] of presented) {
    expect(written).not.toContain(secret);
    expect(written).not.toContain(secret.slice(-20));
  }
  expect(written).not.toContain(TOKEN);
  expect(written).toContain("Credential validation failed: identity did not respond");
});
