/** Tests that the reason for a refused credential is logged and counted, but never sent to the caller. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { person } from "../../support/gateway/identity-stand-in.ts";
import { StepsBed, services } from "../../support/gateway/steps-bed.ts";
import { headerValue, type RawResponse, rawRequest, spell } from "../../support/http/raw-http.ts";
import { waitFor } from "../../support/index.ts";
import { sign, signingKey, startProvider } from "../../support/pages/provider-stand-in.ts";
import { useGateway } from "./bed.ts";

const ISSUER = "https://login.example.com";
const key = await signingKey("ES256", "main");
const provider = startProvider(key);
const bed = new StepsBed();
const gateway = useGateway(
  { ...bed.env, AUTH_ISSUER: ISSUER, AUTH_JWKS_URI: provider.uri, LOG_LEVEL: "debug" },
  () => services(bed.service.url),
);

beforeAll(async () => {
  bed.identity.results.set("alice", person());
  await waitFor(async () => (await fetch(`${gateway.internalUrl}/health/ready`)).ok);
});
afterAll(async () => {
  await Promise.all([bed.stop(), provider.stop()]);
  bed.service.close();
});

const token = (more: object = {}) =>
  sign(key, { iss: ISSUER, sub: "alice", exp: Date.now() / 1000 + 600, ...more });

const call = (jwt: string) =>
  rawRequest(gateway.url, spell("GET", "/user/things/1", { Authorization: `Bearer ${jwt}` }));

const refusedLine = ({ headers }: RawResponse) => {
  const id = headerValue(headers, "x-request-id");
  return waitFor(
    () => gateway.logs().find((line) => line.request_id === id && line.message === "request refused"),
    { what: "the line of the refusal" },
  );
};

async function counted(reason: string): Promise<number> {
  const name = `gateway_credentials_refused_total{reason="${reason}"} `;
  const line = (await gateway.metrics()).split("\n").find((each) => each.startsWith(name));
  return Number(line?.slice(name.length));
}

describe("a refused token", () => {
  // GW-163
  test("is explained in a debug log line and counted by reason, but the response does not explain it", async () => {
    expect(await counted("issuer")).toBe(0);
    const jwt = await token({ iss: `${ISSUER}/` });
    const response = await call(jwt);
    expect(response.status).toBe(401);
    expect(await refusedLine(response)).toMatchObject({
      code: "UNAUTHORIZED",
      credential: "issuer",
      detail: `The token's iss is "${ISSUER}/", but AUTH_ISSUER is "${ISSUER}".`,
    });
    expect(await counted("issuer")).toBe(1);
    const { error } = JSON.parse(response.body.toString());
    expect({ ...error, request_id: "" }).toEqual({
      type: "invalid_request_error",
      code: "UNAUTHORIZED",
      message: "Authentication required.",
      request_id: "",
      details: null,
    });
    expect(headerValue(response.headers, "www-authenticate")).toBe("Bearer");
    expect(JSON.stringify(gateway.logs())).not.toContain(jwt.slice(-20));
  });
});

// GW-218, OP-42
test("the refusal of a request without a route is logged with its path, but without query and credentials", async () => {
  const jwt = await token();
  const secret = "a".repeat(43);
  const target = `/nowhere/%C3%A9/acme-k-2-${secret}/${jwt}/42?key=${secret}`;
  const response = await rawRequest(gateway.url, spell("GET", target));
  expect(response.status).toBe(404);
  expect(await refusedLine(response)).toMatchObject({ code: "NOT_FOUND", path: "/nowhere/%C3%A9/…/…/42" });
  const malformed = await rawRequest(gateway.url, spell("GET", "/x/y?z=1", { Host: "a b" }));
  expect(await refusedLine(malformed)).toMatchObject({ code: "INVALID_REQUEST", path: "/x/y" });
  const long = await rawRequest(gateway.url, spell("GET", "/segment".repeat(500)));
  expect(String((await refusedLine(long)).path)).toHaveLength(1_024);
  for (const text of [secret, jwt.slice(-20)]) expect(JSON.stringify(gateway.logs())).not.toContain(text);
});

// OP-38
test("the line of an admitted token has its person, and no prefix of a key", async () => {
  const id = headerValue((await call(await token())).headers, "x-request-id") ?? "";
  const line = await gateway.logOf(id);
  expect(line).toMatchObject({ status: 200, auth_type: "jwt", user_id: "u1" });
  expect(line).not.toHaveProperty("key_prefix");
});
