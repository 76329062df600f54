/**
 * Tests tokens of an identity provider that stand for operators. `403-operators.test.ts` tests their rights.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { duringTests } from "../../support/during-tests.ts";
import { waitFor } from "../../support/index.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { clientOf, type Registry, startRegistry } from "./bed.ts";
import { claiming, entry, ISSUER, inSeconds, OperatorProvider } from "./operators.ts";

const WIDGETS = { services: ["w*"], paths: ["/w"], urls: ["http://upstream:8080"] };

const provider = duringTests(OperatorProvider.start);
const shared = duringTests(() =>
  startRegistry({
    operators: [
      claiming("widgets", "publisher", { ...WIDGETS, claims: { repository: "acme/widgets", ref: "main" } }),
      claiming("everybody-of-widgets", "reader", { claims: { repository: "acme/widgets" } }),
      claiming("platform", "admin", { claims: { groups: "platform" } }),
      claiming("staff", "reader", { claims: { groups: "staff" } }),
      entry("listed", "reader"),
    ],
    env: provider.env,
  }),
);
beforeAll(async () => {
  // The registry responds with 503 until it has loaded the keys, which is later than its request for them.
  await waitFor(async () => (await verdict(MAIN))[0] === 200);
});

/** Returns the status and the name that `GET /operator` gives for a token. */
async function called(token: string, operated = shared): Promise<[status: number, name: string | undefined]> {
  const { status, body } = await operated.with(token).call("GET", "/operator");
  return [status, body.name];
}
const verdict = async (claims: Record<string, unknown>) => called(await provider.token(claims));
const MAIN = { repository: "acme/widgets", ref: "main" };

// RG-123, RG-124
describe("a token of the identity provider", () => {
  test("stands for the operator whose claims it has", async () => {
    expect(await verdict(MAIN)).toEqual([200, "widgets"]);
    expect(await verdict({ groups: ["x", "platform"] })).toEqual([200, "platform"]);
    expect(await verdict({ groups: "staff", aud: ["elsewhere", "other"] })).toEqual([200, "staff"]);
  });

  const refused: [what: string, claims: Record<string, unknown>][] = [
    ["that has expired", { exp: inSeconds(-31) }],
    ["that is not valid yet", { nbf: inSeconds(3_600) }],
    ["of another issuer", { iss: `${ISSUER}/` }],
    ["for another audience", { aud: "somebody" }],
    ["without a subject", { sub: undefined }],
    ["of a foreign repository", { repository: "evil/widgets" }],
    ["of a repository in other case", { repository: "ACME/widgets" }],
    ["whose repository is a list in a list", { repository: [["acme/widgets"]] }],
  ];
  test.each(refused)("%s is 401, without a reason in the response", async (_, claims) => {
    const { status, body, headers } = await shared
      .with(await provider.token({ ...MAIN, ...claims }))
      .call("GET", "/services");
    expect([status, body.error.message, body.error.details]).toEqual([401, "Authentication required.", null]);
    expect(headers.get("www-authenticate")).toBe("Bearer");
  });
});

// RG-125
describe("an identity provider that is down", () => {
  const isFailing = async ({ internalUrl }: Registry): Promise<boolean> => {
    const { body } = await clientOf(internalUrl).call("GET", "/metrics");
    return /^registry_operator_keys_failing 1$/m.test(body);
  };

  test("makes its own tokens 503 until its keys can be loaded, but no other tokens", async () => {
    await using down = await OperatorProvider.start();
    down.standIn.respond = () => new Response(null, { status: 500 });
    const operators = [claiming("blue", "reader"), entry("listed", "reader")];
    await using own = await startRegistry({ operators, env: down.env });
    const token = await down.token({ team: "blue" });
    await waitFor(() => isFailing(own));
    const { status, body } = await own.with(token).call("GET", "/services");
    expect([status, body.error.code]).toEqual([503, "SERVICE_UNAVAILABLE"]);
    expect((await own.with(token).call("GET", "/schema/routes.json")).status).toBe(200);
    expect((await own.as("listed").call("GET", "/services")).status).toBe(200);
    expect((await own.as("nobody").call("GET", "/services")).status).toBe(401);
    down.standIn.publish(down.key);
    await waitFor(async () => (await called(token, own))[0] === 200);
    expect(await isFailing(own)).toBe(false);
  });
});

// RG-128
describe("the registry's log", () => {
  test("has the subject of an admitted token, and at level debug why a token is refused", async () => {
    const LOG_FILE = join(temporaryFolder("log"), "registry.log");
    const env = { ...provider.env, LOG_FILE, LOG_LEVEL: "debug" };
    await using own = await startRegistry({ operators: [claiming("blue", "reader")], env });
    const linesOf = async (part: Record<string, unknown>) => {
      const lines = (await readFile(LOG_FILE, "utf8")).split("\n").filter((line) => line !== "");
      const wanted = Object.entries(part);
      return lines
        .map((line): Record<string, unknown> => JSON.parse(line))
        .filter((line) => wanted.every(([name, value]) => line[name] === value));
    };
    const good = await provider.token({ team: "blue", sub: "repo:acme/blue" });
    await waitFor(async () => (await called(good, own))[0] === 200);
    await waitFor(
      async () => (await linesOf({ operator: "blue", operator_subject: "repo:acme/blue" })).length > 0,
    );
    const refused: [string, string][] = [
      [await provider.token({ team: "green" }), "operator"],
      [await provider.token({ team: "blue", aud: "x" }), "audience"],
      [await provider.token({ team: "blue", sub: undefined }), "claim_missing"],
      ["x".repeat(9_000), "too_long"],
    ];
    for (const [token, credential] of refused) {
      expect((await called(token, own))[0]).toBe(401);
      const message = "request refused";
      await waitFor(async () => (await linesOf({ credential, message })).length > 0, { what: credential });
    }
    expect((await called("opaque", own))[0]).toBe(401);
    const unlisted = "No operator of OPERATORS_FILE has this token, or the token has expired.";
    await waitFor(async () => (await linesOf({ credential: "operator", detail: unlisted })).length > 0);
    const [audience] = await linesOf({ credential: "audience" });
    expect(audience?.detail).toBe('The token\'s aud is "x", but OPERATOR_AUDIENCE is ["other","ostiary"].');
    const text = await readFile(LOG_FILE, "utf8");
    for (const [token] of [...refused.slice(0, 3), [good]]) expect(text).not.toContain(token);
  });
});
