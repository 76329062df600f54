/** Tests of calls that start on a kept-alive connection while identity stops and closes the connection. */
import { afterEach, expect, test } from "bun:test";
import { boundedCall } from "@ostiary/lib/runtime/calls";
import { createValidationClient } from "../../../../apps/gateway/admission/validation-client.ts";
import { createAuditClient } from "../../../../apps/gateway/audit/client.ts";
import { RawUpstream } from "../../../support/http/raw-http.ts";
import { rejection } from "../../../support/index.ts";

const VALID = '{"valid":true,"realm":"directory","user_id":"u1"}';
const ANSWER = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${VALID.length}\r\n\r\n${VALID}`;

let identity: RawUpstream;
afterEach(() => identity.close());

/**
 * Starts a stand-in for identity. It responds to the first request on each connection, and fails the second
 * as `ending` says.
 */
function startIdentity(ending: "closed" | "silent" | "half an answer"): RawUpstream {
  const served = new Set<number>();
  identity = new RawUpstream(({ connection }, socket) => {
    if (!served.has(connection)) {
      served.add(connection);
      return ANSWER;
    }
    if (ending === "half an answer") socket.send(ANSWER.slice(0, -5));
    if (ending !== "silent") socket.end();
    return null;
  });
  return identity;
}

const clientOf = ({ url }: RawUpstream, timeoutMs = 5_000) =>
  createValidationClient({
    CREDENTIAL_VALIDATE_URL: url,
    INTERNAL_AUTH_TOKEN: undefined,
    VALIDATE_TIMEOUT_MS: timeoutMs,
  });

// GW-56
test("a validation is retried over a new connection when its connection is closed", async () => {
  const upstream = startIdentity("closed");
  const client = clientOf(upstream);
  for (let count = 0; count < 10; count++) {
    expect(await client.credential("acme-k-2-x")).toMatchObject({ valid: true });
  }
  const connections = upstream.requests.map(({ connection }) => connection);
  expect(Math.max(...connections)).toBeGreaterThan(1);
});

test("many concurrent validations are retried when their connections are closed", async () => {
  const client = clientOf(startIdentity("closed"));
  const ask = () => Promise.all(Array.from({ length: 40 }, () => client.person("https://issuer", "ada")));
  await ask();
  for (const answer of await ask()) expect(answer).toMatchObject({ valid: true });
});

// GW-56
test("a validation is not retried after a part of a response, or after a timeout", async () => {
  for (const ending of ["half an answer", "silent"] as const) {
    const upstream = startIdentity(ending);
    const client = clientOf(upstream, 300);
    await client.credential("acme-k-2-x");
    expect(await rejection(client.credential("acme-k-2-x"))).toMatchObject({ status: 503 });
    expect(upstream.requests).toHaveLength(2);
    upstream.close();
  }
});

// GW-56
test("a validation fails after two attempts when every connection is closed", async () => {
  identity = new RawUpstream((_, socket) => {
    socket.end();
    return null;
  });
  expect(await rejection(clientOf(identity).credential("acme-k-2-x"))).toMatchObject({ status: 503 });
  expect(identity.requests).toHaveLength(2);
});

// GW-56
test("calls with fetch, which TLS needs, are retried in the same way", async () => {
  const upstream = startIdentity("closed");
  const call = {
    method: "POST",
    url: upstream.url,
    body: "{}",
    timeoutMs: 5_000,
    repeatable: true,
  } as const;
  for (let count = 0; count < 4; count++) expect(await boundedCall(call)).toMatchObject({ status: 200 });
  expect(upstream.requests.length).toBeGreaterThan(4);
});

test("a call that is not marked repeatable is not retried, and neither is a write to audit", async () => {
  identity = new RawUpstream((_, socket) => {
    socket.end();
    return null;
  });
  const call = { method: "POST", url: identity.url, body: "{}", timeoutMs: 5_000 } as const;
  expect(await rejection(boundedCall(call))).toMatchObject({ sent: true, broken: true });
  expect(identity.requests).toHaveLength(1);
  const audit = createAuditClient(identity.url, undefined);
  await rejection(audit.postIntents([], 5_000));
  expect(identity.requests).toHaveLength(2);
});
