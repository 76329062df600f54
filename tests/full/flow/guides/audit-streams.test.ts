/** Tests of the receiver program in audit-streams.md, with an audit service that sends to it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { join } from "node:path";
import { type AuditService, requestId, userIntent } from "../../../app/audit/bed.ts";
import { exportProof, writeEvents } from "../../../app/audit/proof-bed.ts";
import { callStreams, STREAMS, startStreamingAudit } from "../../../app/audit/streams-bed.ts";
import { commandsOf } from "../../../support/documents/documents.ts";
import { type Command, Reader } from "../../../support/documents/guide-reader.ts";
import { freePort } from "../../../support/http/free-port.ts";
import { waitFor } from "../../../support/time/wait-for.ts";

const GUIDE = ".github/guides/audit-streams.md";

// AU-102, AU-103
describe("the receiver of audit-streams.md", () => {
  let audit: AuditService;
  let gateway: Bun.Server<undefined>;
  let reader: Reader;
  let receiver: Command;
  let port: number;
  let secret: string;

  beforeAll(async () => {
    port = freePort();
    audit = await startStreamingAudit([port]);
    // A stand-in for the gateway: it forwards /org/... to the paths of organization-1.
    gateway = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) =>
        fetch(
          new URL(
            new URL(request.url).pathname.replace("/org/", "/organizations/organization-1/"),
            audit.url,
          ),
          {
            method: request.method,
            body: request.body,
            headers: { "Content-Type": "application/json" },
          },
        ),
    });
    reader = await Reader.open({
      GATEWAY: `http://127.0.0.1:${gateway.port}`,
      SESSION: "session",
      RECEIVER: `http://127.0.0.1:${port}/`,
    });
    const [program = ""] = await commandsOf(GUIDE, "A receiver that proves its log complete");
    const [create = ""] = await commandsOf(GUIDE, "The stream");
    await reader.runAll([program, create]);
    secret = JSON.parse(await Bun.file(join(reader.directory, "stream.json")).text()).secret;
    receiver = reader.start(`exec ${process.execPath} receive.mjs`, { SECRET: secret, PORT: String(port) });
    // A call before the receiver listens would fail, and the next one would come after a pause.
    const listens = () => fetch(`http://127.0.0.1:${port}/`, { method: "POST" }).then(() => true);
    await waitFor(() => listens().catch(() => false), { what: "the receiver" });
    await writeEvents(audit, 4);
  });
  afterAll(async () => {
    receiver?.kill();
    await audit?.stop();
    gateway?.stop(true);
  });

  async function lines(): Promise<{ position: number; kind: string; event: { request_id: string } }[]> {
    const file = Bun.file(join(reader.directory, "events.ndjson"));
    if (!(await file.exists())) return [];
    return (await file.text())
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  }

  const caughtUp = async () => {
    const { end } = await exportProof(audit);
    const { position, chain } = end.head;
    // The receiver writes its position after the entries, so all entries up to that position are written.
    await waitFor(async () => Bun.deepEquals(await keptPosition(), { position, chain }), {
      timeoutMs: 60_000,
    });
    return { position, chain };
  };

  const keptPosition = async () => JSON.parse(await Bun.file(join(reader.directory, "position.json")).text());

  function post(body: string, key: string, at = Math.floor(Date.now() / 1_000)): Promise<Response> {
    const mac = createHmac("sha256", Buffer.from(key.slice(6), "base64"))
      .update(`x.${at}.${body}`)
      .digest("base64");
    const headers = { "webhook-id": "x", "webhook-timestamp": String(at), "webhook-signature": `v1,${mac}` };
    return fetch(`http://127.0.0.1:${port}/`, { method: "POST", body, headers });
  }

  test("keeps every entry once and in order, and verifies the chain", async () => {
    const id = requestId();
    await audit.put(id, userIntent());
    await audit.patch(id, {
      outcome: "responded",
      status: 200,
      details: { "z 2": [1.5, "é", null], a: { b: 1e21 } },
      organization_id: "organization-1",
      member_id: "member-2",
    });
    const head = await caughtUp();
    expect((await lines()).map(({ position }) => position)).toEqual(
      Array.from({ length: head.position }, (_, n) => n + 1),
    );
    // Audit records a delivery after the receiver's response, so wait until no event is left to deliver.
    const [stream] = await waitFor(async () => {
      const { audit_streams } = (await callStreams(audit, "GET", STREAMS)).body;
      return audit_streams[0].lag_events === 0 && audit_streams;
    });
    expect(stream).toMatchObject({
      status: "active",
      last_error: null,
      last_delivered: { position: head.position },
    });
  });

  test("refuses calls that are unsigned, too old, altered or incomplete, and keeps no entry of them", async () => {
    await caughtUp();
    const before = await lines();
    const [last] = before.slice(-1);
    const known = await keptPosition();
    const batch = (changes: object) =>
      JSON.stringify({
        type: "audit.entries",
        data: {
          organization_id: "organization-1",
          after: known,
          entries: [{ ...last, position: known.position + 1, ...changes }],
        },
      });
    expect((await post(batch({}), `whsec_${Buffer.from("another").toString("base64")}`)).status).toBe(401);
    expect((await post(batch({}), secret, Math.floor(Date.now() / 1_000) - 3_600)).status).toBe(401);
    expect(
      (
        await fetch(`http://127.0.0.1:${port}/`, {
          method: "POST",
          body: "{}",
          headers: { "webhook-signature": `v1,${"A".repeat(44)}` },
        })
      ).status,
    ).toBe(401);
    expect((await post(batch({}), secret)).status).toBe(409);
    expect((await post(batch({ position: known.position + 2 }), secret)).status).toBe(409);
    expect(await lines()).toEqual(before);
    expect((await post(JSON.stringify({ type: "audit.test", data: {} }), secret)).status).toBe(204);
  });
});
