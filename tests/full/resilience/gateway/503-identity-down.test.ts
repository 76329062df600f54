import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startIdentityProvider } from "@ostiary/demo";
import { type LocalGateway, startLocalGateway } from "../../../support/gateway/gateway.ts";
import { startProxy } from "../../../support/http/proxy.ts";
import { freePort, waitFor } from "../../../support/index.ts";
import { type DirectoryProcess, startDirectory } from "../../../support/processes/directory.ts";

const START_TIMEOUT_MS = 60_000;

const upstream = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("ok") });
let directory: DirectoryProcess;
/** The proxy between the gateway and the identity service. */
let wire: Awaited<ReturnType<typeof startProxy>>;
let providerPort: number;
/** A gateway whose validations do not time out during a test, however busy the machine is. */
let patient: LocalGateway;
/** A gateway behind the proxy, whose validations time out soon. */
let hasty: LocalGateway;

async function startGateway(validateUrl: string, timeoutMs: number): Promise<LocalGateway> {
  const gateway = await startLocalGateway({
    AUTH_ISSUER: "https://login.example.com",
    AUTH_JWKS_URI: `http://127.0.0.1:${providerPort}/.well-known/jwks.json`,
    CREDENTIAL_VALIDATE_URL: validateUrl,
    VALIDATE_TIMEOUT_MS: String(timeoutMs),
  });
  await gateway.publish({
    things: {
      url: `http://127.0.0.1:${upstream.port}`,
      public: { routes: [{ path: "/public", methods: ["GET"] }] },
      user: { routes: [{ path: "/user", methods: ["GET"] }] },
      member: { routes: [{ path: "/member", methods: ["GET"] }] },
    },
  });
  return gateway;
}

beforeAll(async () => {
  providerPort = freePort();
  directory = await startDirectory();
  wire = await startProxy(directory.validateUrl);
  patient = await startGateway(directory.validateUrl, 30_000);
  hasty = await startGateway(wire.url, 300);
}, START_TIMEOUT_MS);
afterAll(async () => {
  await Promise.all([patient.close(), hasty.close()]);
  await Promise.all([wire.close(), directory.stop(), upstream.stop(true)]);
});

const ISSUER = "https://login.example.com";
const startProvider = () => startIdentityProvider({ host: "127.0.0.1", port: providerPort, issuer: ISSUER });
const unsigned = (claims: object) => {
  const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  return `Bearer ${encoded({ alg: "RS256" })}.${encoded(claims)}.c2ln`;
};
const token = async (subject: string) =>
  `Bearer ${await (await fetch(`http://127.0.0.1:${providerPort}/token?subject=${subject}`)).text()}`;
const statusOf =
  (gateway: () => LocalGateway) =>
  async (path: string, headers: Record<string, string> = {}) =>
    (await fetch(`${gateway().url}${path}`, { headers })).status;
const ready = async () => (await fetch(`${patient.internalUrl}/health/ready`)).status;

// GW-50
test("only JWTs are refused until the identity provider was reachable once; later outages do no harm", async () => {
  const status = statusOf(() => patient);
  const alice = await directory.person("elsewhere", "alice");
  const { key } = await directory.key(`/users/${alice}`);
  expect(await ready()).toBe(503);
  expect(await status("/user", { authorization: unsigned({ iss: ISSUER }) })).toBe(503);
  expect(await status("/user", { authorization: unsigned({}) })).toBe(401);
  expect(await status("/user", { authorization: "Bearer garbage" })).toBe(401);
  expect(await status("/user", { "x-api-key": key })).toBe(200);
  expect(await status("/public")).toBe(200);

  const provider = await startProvider();
  await waitFor(async () => (await ready()) === 200);
  const [known, unseen] = [await token("alice"), await token("bob")];
  expect(await status("/user", { authorization: known })).toBe(200);

  await provider.stop();
  expect(await status("/user", { authorization: known })).toBe(200);
  expect(await status("/user", { authorization: unseen })).toBe(200);
  expect(await ready()).toBe(200);
});

describe("while the identity service does not answer", () => {
  const status = statusOf(() => hasty);

  // GW-55, GW-57
  test("only callers that are not cached get 503", async () => {
    const alice = await directory.person("elsewhere", "alice");
    const { id, member_id } = await directory.organization(alice);
    const known = { "x-api-key": (await directory.key(`/members/${member_id}`)).key };
    const unseen = { "x-api-key": await directory.session(alice, id) };
    await waitFor(async () => (await status("/member", known)) === 200, { what: "a caller that is cached" });
    for (const fail of [() => wire.stall(), () => wire.cut()]) {
      fail();
      expect(await status("/member", unseen)).toBe(503);
      expect(await status("/member", known)).toBe(200);
      expect(await status("/member", { "x-api-key": "garbage" })).toBe(401);
      expect(await status("/public")).toBe(200);
      wire.heal();
    }
    await waitFor(async () => (await status("/member", unseen)) === 200);
    const failed = await waitFor(() => {
      const lines = hasty.logs().filter((line) => line.status === 503 && line.route === "/member");
      return lines.length >= 2 && lines;
    });
    for (const line of failed) {
      expect(line).toMatchObject({
        error_kind: "network",
        error_message: expect.stringContaining("Credential validation"),
      });
    }
  });
});
