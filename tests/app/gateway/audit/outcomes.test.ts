import { beforeEach, describe, expect, test } from "bun:test";
import type { AuditOutcome } from "@ostiary/lib/contracts/audit";
import { eachIs, responding, startAudit, taken } from "../../../support/gateway/audit-stand-in.ts";
import { freePort, waitFor } from "../../../support/index.ts";
import { intent, type Recording, recording, useRecording } from "./bed.ts";

const { audit, recorder } = useRecording();

const responded: AuditOutcome = {
  outcome: "responded",
  status: 201,
  details: { name: { from: "a", to: "b" } },
  created_id: "w1",
  organization_id: null,
  member_id: null,
};
const patched = (count: number) => waitFor(() => audit.of("PATCH").length >= count);
const counted = (name: string, count: number) =>
  waitFor(async () => (await recorder.counts())[name] === count, { what: `${name} ${count}` });
const send = (count: number, to: Recording = recorder) => {
  for (let at = 0; at < count; at++) to.outcome(`r${at}`, responded);
};

describe("an outcome", () => {
  // GW-141
  test("is sent in the background, with one PATCH under the request id", async () => {
    expect(recorder.outcome("r1", responded)).toBeUndefined();
    await patched(1);
    expect(audit.writes).toEqual([
      { method: "PATCH", path: "/internal/events/r1", body: responded, token: "inner-token" },
    ]);
    await counted("outcome ok", 1);
  });

  // GW-145
  test.each([503, 401])("is retried while the audit service returns %d", async (status) => {
    audit.respond = (write) => (audit.writes.length < 4 ? responding(status)(write) : taken(write));
    recorder.outcome("r1", responded);
    await counted("outcome ok", 1);
    expect(audit.writes).toHaveLength(4);
  });

  // GW-145
  test("is not retried if the audit service refuses it, and the refusal is logged as an error", async () => {
    audit.respond = responding(422);
    recorder.outcome("r1", responded);
    await counted("outcome failed", 1);
    await recorder.close(1_000);
    expect(audit.writes).toHaveLength(1);
    expect(recorder.lines.join()).toContain("the audit service refused an outcome");
  });

  test("waits while the audit service is down, and the outage is logged once", async () => {
    const port = freePort();
    const waiting = recording({ AUDIT_URL: `http://127.0.0.1:${port}` });
    send(50, waiting);
    await waitFor(() => waiting.lines.length > 0);
    const back = startAudit(port);
    await waitFor(() => new Set(back.writes.map(({ path }) => path)).size === 50);
    await waitFor(async () => (await waiting.counts())["outcome ok"] === 50);
    expect(back.writes).toHaveLength(50);
    expect(
      waiting.lines.filter((line) => line.startsWith("the audit service is not accepting outcomes")),
    ).toHaveLength(1);
    expect(
      waiting.lines.filter((line) => line.startsWith("the audit service accepts outcomes again")),
    ).toHaveLength(1);
    await back.stop();
  });
});

// GW-147
describe("outcomes that come while another is in flight", () => {
  /** Sends an outcome that stays in flight until the test ends. */
  beforeEach(async () => {
    const ended = Promise.withResolvers<Response>();
    audit.respond = (write) => (write.path.endsWith("/first") ? ended.promise : taken(write));
    recorder.outcome("first", responded);
    await patched(1);
    audit.writes.length = 0;
  });

  test("each have their own result", async () => {
    const results = ["applied", "already_final", "not_found", "invalid"];
    audit.respondToOutcomes = (outcomes) =>
      Response.json({
        results: outcomes.map(({ request_id }, index) => ({ request_id, result: results[index] })),
      });
    send(4);
    await waitFor(async () => Object.keys(await recorder.counts()).length === 2);
    // The outcome without an event (not_found) has no result yet: it is retried after some seconds.
    expect(await recorder.counts()).toEqual({ "outcome ok": 2, "outcome failed": 1 });
    expect(recorder.lines).toEqual([
      'the audit service refused an outcome {"request_id":"r3","outcome":"responded"}',
    ]);
  });

  test("are not lost if the audit service stops during the call", async () => {
    audit.respondToOutcomes = async () => {
      audit.respondToOutcomes = eachIs("applied");
      await audit.stop();
      throw new Error("gone");
    };
    send(20);
    await waitFor(() =>
      recorder.lines.some((line) => line.startsWith("the audit service is not accepting outcomes")),
    );
    const back = startAudit(Number(new URL(audit.url).port));
    await counted("outcome ok", 21);
    expect(back.of("PATCH")).toHaveLength(21);
    await back.stop();
  });
});

describe("the queue", () => {
  test("calls the service at most 32 times at once", async () => {
    const gate = Promise.withResolvers<void>();
    audit.respond = async (write) => {
      await gate.promise;
      return taken(write);
    };
    send(500);
    await patched(32);
    gate.resolve();
    await counted("outcome ok", 500);
    expect(audit.most()).toBe(32);
  });

  // GW-146
  test("drops, logs and counts outcomes beyond AUDIT_QUEUE_SIZE; queued ones arrive", async () => {
    const small = recording({ AUDIT_URL: audit.url, AUDIT_QUEUE_SIZE: "10" });
    const gate = Promise.withResolvers<void>();
    audit.respond = async (write) => {
      await gate.promise;
      return taken(write);
    };
    send(25, small);
    expect(await small.counts()).toEqual({ "outcome dropped": 15 });
    expect(small.lines).toHaveLength(15);
    expect(small.lines[0]).toBe(
      'the gateway dropped an audit outcome {"request_id":"r10","outcome":"responded","status":201}',
    );
    gate.resolve();
    await waitFor(async () => (await small.counts())["outcome ok"] === 10);
    send(10, small);
    await waitFor(async () => (await small.counts())["outcome ok"] === 20);
  });
});

// GW-148
describe("on stopping", () => {
  test("outcomes that cannot be delivered by the deadline are dropped, logged and counted", async () => {
    audit.respond = () => new Promise(() => {});
    send(40);
    await patched(32);
    await recorder.close(20);
    expect(await recorder.counts()).toEqual({ "outcome dropped": 40 });
    expect(recorder.lines).toEqual(['the gateway dropped audit outcomes: it is stopping {"outcomes":40}']);
  });

  test("a later outcome is dropped, and a second stop is harmless", async () => {
    await recorder.close(20);
    recorder.outcome("r1", responded);
    await recorder.close(20);
    expect(audit.writes).toEqual([]);
    expect(await recorder.counts()).toEqual({ "outcome dropped": 1 });
  });
});

// GW-135
describe("with AUDIT_ENABLED=false", () => {
  test("nothing is recorded, and no AUDIT_URL is needed", async () => {
    const off = recording({ AUDIT_ENABLED: "false" });
    expect(off.enabled).toBeFalse();
    await off.intent("r1", intent);
    off.outcome("r1", responded);
    await off.close(0);
    expect(await off.counts()).toEqual({});
  });

  test("recording is off only then: without it, AUDIT_URL is required", () => {
    expect(recorder.enabled).toBeTrue();
    expect(() => recording({})).toThrow("AUDIT_URL is required unless AUDIT_ENABLED is false.");
  });
});
