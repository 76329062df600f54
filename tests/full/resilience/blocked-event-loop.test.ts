/**
 * Tests that a process whose event loop was blocked does not take for late what arrived during it. Long garbage
 * collections block it, and so does a machine that stops the process in the middle of its work. The event loop then
 * runs due timers before it reads sockets.
 */
import { expect, test } from "bun:test";
import { ulid } from "ulid";
import { startIdentity } from "../../app/identity/bed.ts";
import { publicService, startLocalGateway } from "../../support/gateway/gateway.ts";
import { acceptance, handshake } from "../../support/gateway/raw-websocket.ts";
import { OK, RawClient, RawUpstream, rawRequest, spell } from "../../support/http/raw-http.ts";
import { freshDatabase, services, waitFor } from "../../support/index.ts";
import { connect } from "../../support/stores/sql.ts";

const LIMIT_MS = 1_000;
const TEXT = Buffer.from([0x81, 1, 0x78]);

// GW-115, GW-121, GW-132
test("in a gateway, no call, no request body and no WebSocket counts as late", async () => {
  const service = new RawUpstream((request) => {
    if (request.target === "/socket") return acceptance(request);
    return request.target === "/held" ? null : OK;
  });
  const gateway = await startLocalGateway({
    UPSTREAM_TIMEOUT_MS: String(LIMIT_MS),
    CLIENT_BODY_TIMEOUT_MS: String(LIMIT_MS),
    WEBSOCKET_IDLE_TIMEOUT_MS: String(LIMIT_MS),
  });
  const routes = ["/held", "/things", "/socket"].map((path) => ({
    path,
    methods: ["GET" as const, "POST" as const],
  }));
  await gateway.publish({ things: publicService(service.url, ...routes) });
  const connect = () => RawClient.connect(gateway.url);
  const [asking, sending, talking] = [await connect(), await connect(), await connect()];
  talking.send(handshake("/socket"));
  await talking.until(() => talking.received.includes("\r\n\r\n") || null, "a WebSocket");
  const tunnel = service.sockets.at(-1);
  asking.send(spell("GET", "/held"));
  await waitFor(() => service.requests.some(({ target }) => target === "/held"));
  const held = service.sockets.at(-1);
  sending.send(spell("POST", "/things", { "Content-Length": "4" }, "ab"));
  // The gateway waits for the rest of the body when it responds to a later request.
  expect((await rawRequest(gateway.url, spell("GET", "/things"))).status).toBe(200);
  held?.send(OK);
  sending.send("cd");
  tunnel?.send(TEXT);
  Bun.sleepSync(2 * LIMIT_MS);
  expect((await asking.response()).status).toBe(200);
  expect((await sending.response("POST")).status).toBe(200);
  await waitFor(() => talking.received.includes(TEXT));
  for (const client of [asking, sending, talking]) client.destroy();
  await gateway.close();
  service.close();
});

// GW-55, GW-138
test("in a gateway, no response of identity or audit counts as late", async () => {
  const service = new RawUpstream();
  const peer = new RawUpstream(({ method, target }, socket) => {
    const admitted = { valid: true, realm: "directory", user_id: ulid() };
    const body = JSON.stringify(target === "/validate" ? admitted : {});
    socket.send(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    if (method !== "PATCH") Bun.sleepSync(2 * LIMIT_MS);
    return null;
  });
  const gateway = await startLocalGateway({
    CREDENTIAL_VALIDATE_URL: `${peer.url}/validate`,
    VALIDATE_TIMEOUT_MS: String(LIMIT_MS),
    ADMISSION_CHANGES_WAIT_MS: "0",
    AUDIT_ENABLED: "true",
    AUDIT_URL: peer.url,
  });
  await gateway.publish({
    things: { url: service.url, user: { routes: [{ path: "/things", methods: ["POST"], audit: true }] } },
  });
  const headers = { "X-API-Key": `ostiary-k-2-${"a".repeat(43)}` };
  expect((await fetch(`${gateway.url}/things`, { method: "POST", headers })).status).toBe(200);
  expect(peer.requests.filter(({ method }) => method === "PUT")).toHaveLength(1);
  await gateway.close();
  service.close();
  peer.close();
});

// OP-18
test.skipIf(!services().postgres.real)("no call to which the database responded counts as late", async () => {
  const databaseUrl = await freshDatabase();
  const identity = await startIdentity({ databaseUrl, deadlineMs: 2_000 });
  const { ownerMember } = await identity.organization();
  const { key } = (await identity.call("POST", `/members/${ownerMember}/api-keys`)).body;
  const [sql, other] = [1, 2].map(() => connect(databaseUrl));
  if (sql === undefined || other === undefined) throw new Error("Two connections are needed.");
  const locking =
    "begin; lock table identity.api_keys in access exclusive mode; select pg_sleep(1.5); commit";
  const locked = other.unsafe(locking).execute();
  const locks = async (isGranted: boolean) =>
    (
      await sql`select 1 from pg_locks where relation = 'identity.api_keys'::regclass and granted = ${isGranted}`
    ).length;
  await waitFor(async () => (await locks(true)) > 0);
  const response = identity.internal("POST", "/internal/credentials/validate", { credential: key });
  await waitFor(async () => (await locks(false)) > 0);
  Bun.sleepSync(3_000);
  expect((await response).status).toBe(200);
  await locked;
  await Promise.all([sql.end(), other.end()]);
  await identity.close();
});
