import { afterEach, describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { waitFor } from "../../support/index.ts";
import { requestId, userIntent } from "./bed.ts";
import { exportProof, writeBatches, writeEvents } from "./proof-bed.ts";
import {
  bodiesOf,
  callStreams,
  proven,
  STREAMS,
  sharedReceiver,
  sharedStreamingAudit,
  shortClock,
  type TestReceiver,
} from "./streams-bed.ts";

describe("delivery", () => {
  const [receiver, other] = [sharedReceiver(), sharedReceiver()];
  const audit = sharedStreamingAudit([receiver, other], { clock: shortClock });
  afterEach(async () => {
    for (const { id } of (await call("GET", STREAMS)).body.audit_streams)
      await call("DELETE", `${STREAMS}/${id}`);
    for (const each of [receiver, other]) {
      each.respond = () => new Response(null, { status: 204 });
      each.calls.length = 0;
    }
  });

  const call = (method: string, path: string, body?: unknown) => callStreams(audit, method, path, body);
  const create = async (changes: Record<string, unknown> = {}) =>
    (await call("POST", STREAMS, { url: receiver.url, ...changes })).body;
  const read = async (id: string) => (await call("GET", `${STREAMS}/${id}`)).body;
  const head = async () => (await exportProof(audit)).end.head;
  /** Lets a receiver respond only once it is released. */
  const hold = (held: TestReceiver, response: ResponseInit = {}) => {
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    held.respond = async () => {
      reached.resolve();
      await released.promise;
      return new Response(null, response);
    };
    return { reached: reached.promise, release: released.resolve };
  };
  const WORKING = { status: "active", failing_since: null, last_error: null };
  /** Waits until every entry that is written by now is delivered or filtered out. */
  const caughtUp = async (id: string) => {
    await head();
    await waitFor(async () => (await read(id)).lag_events === 0);
  };

  // AU-102, AU-103
  test("sends every entry once, signed and in chain order, so that the receiver can verify that none is missing", async () => {
    const begun = await head();
    const stream = await create();
    await writeBatches(audit, 130);
    const end = await head();
    await waitFor(async () => (await read(stream.id)).last_delivered?.position === end.position);
    const got = proven(receiver, { position: begun.position, chain: begun.chain });
    expect([got.position, got.chain, got.duplicates]).toEqual([end.position, end.chain, 0]);
    expect(got.entries).toHaveLength(end.position - begun.position);
    for (const { headers, body } of receiver.calls) {
      new Webhook(stream.secret).verify(body, headers);
      expect(JSON.parse(body)).toMatchObject({
        type: "audit.entries",
        data: { stream_id: stream.id, organization_id: "organization-1" },
      });
      expect(JSON.parse(body).data.entries.length).toBeLessThanOrEqual(100);
      expect(body).not.toContain("user_id");
    }
    expect(await read(stream.id)).toMatchObject({ status: "active", lag_events: 0, last_error: null });
  });

  // AU-95, AU-102
  test("sends the whole log from position 1, in calls of at most 100 entries and 256 KiB", async () => {
    await writeBatches(audit, 60);
    await writeEvents(audit, 12, {
      params: Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`p${n}`, "x".repeat(7_000)])),
    });
    const end = await head();
    const stream = await create({ from_position: 1 });
    await caughtUp(stream.id);
    const got = proven(receiver);
    expect([got.position, got.chain, got.duplicates]).toEqual([end.position, end.chain, 0]);
    for (const { body } of receiver.calls) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(262_144);
  });

  // AU-4, AU-102
  test("sends both entries of an event that joined the log only with its outcome", async () => {
    const begun = await head();
    const stream = await create();
    const id = requestId();
    await audit.put(id, userIntent());
    await audit.patch(id, {
      outcome: "responded",
      status: 201,
      created_id: "organization-1",
      organization_id: "organization-1",
      member_id: "member-9",
    });
    await waitFor(() => receiver.calls.length > 0);
    await caughtUp(stream.id);
    const got = proven(receiver, begun);
    const shown = got.entries.map(({ kind, event }) => [kind, event.organization_id, event.actor.member_id]);
    expect(shown).toEqual([
      ["intent", null, null],
      ["outcome", "organization-1", "member-9"],
    ]);
  });

  // AU-93, AU-102
  test("skips entries that the filter does not match, and `after` names the last delivered entry", async () => {
    const filter = { service: "gadgets", outcome: "responded", params: { widget_id: "w" } };
    const stream = await create({ filter });
    await writeEvents(audit, 4);
    await writeEvents(audit, 3, { service: "gadgets", params: { widget_id: "w" } });
    await writeEvents(audit, 2, { service: "gadgets" });
    await writeEvents(audit, 4);
    await writeEvents(audit, 2, { service: "gadgets", params: { widget_id: "w" } });
    await caughtUp(stream.id);
    const bodies = bodiesOf(receiver);
    const entries = bodies.flatMap(({ data }) => data.entries);
    expect(entries.map(({ kind, event }) => [kind, event.service, event.outcome])).toEqual(
      Array(3).fill(["outcome", "gadgets", "responded"]),
    );
    const positions = bodies.flatMap(({ data }) => [
      data.after.position,
      ...data.entries.map(({ position }) => position),
    ]);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    for (const [index, { data }] of bodies.entries()) {
      if (index > 0) expect(data.after.position).toBe(bodies[index - 1]?.data.entries.at(-1)?.position ?? -1);
    }
    const nothing = await create({ filter: { service: "nobody" }, from_position: 1 });
    receiver.calls.length = 0;
    await caughtUp(nothing.id);
    expect(receiver.calls).toEqual([]);
    expect((await read(nothing.id)).last_delivered).toBeNull();
  });

  // AU-104
  test("retries failed deliveries in the same order, and shows since when the stream fails", async () => {
    const begun = await head();
    let failures = 0;
    receiver.respond = () => new Response(null, { status: ++failures <= 2 ? 500 : 200 });
    const stream = await create();
    await writeEvents(audit, 5);
    // Check a single response: the next delivery may succeed at any time and change the status.
    const failing = await waitFor(async () => {
      const seen = await read(stream.id);
      return seen.status === "failing" && seen;
    });
    expect(failing).toMatchObject({
      last_error: "The receiver responded with 500.",
      failing_since: expect.any(String),
      last_delivered: null,
    });
    await caughtUp(stream.id);
    expect(await read(stream.id)).toMatchObject(WORKING);
    receiver.calls.splice(0, 2);
    expect(proven(receiver, begun).position).toBe((await head()).position);
  });

  // AU-104
  test("pauses a stream whose receiver returns 410, and continues where it stopped once resumed", async () => {
    const begun = await head();
    receiver.respond = () => new Response(null, { status: 410 });
    const stream = await create();
    await writeEvents(audit, 3);
    await waitFor(async () => (await read(stream.id)).status === "paused");
    expect(await read(stream.id)).toMatchObject({
      last_error: "The receiver responded with 410.",
      failing_since: expect.any(String),
    });
    expect(receiver.calls).toHaveLength(1);
    receiver.respond = () => new Response(null);
    receiver.calls.length = 0;
    await writeEvents(audit, 2);
    await call("PATCH", `${STREAMS}/${stream.id}`, { status: "active" });
    await caughtUp(stream.id);
    expect(proven(receiver, begun).position).toBe((await head()).position);
    expect(await read(stream.id)).toMatchObject(WORKING);
  });

  // AU-117
  test("does not delay other streams when a receiver never responds", async () => {
    const { release } = hold(other);
    const slow = await create({ url: other.url });
    const quick = await create();
    await writeEvents(audit, 3);
    await caughtUp(quick.id);
    await waitFor(() => other.calls.length > 0);
    await writeEvents(audit, 3);
    await caughtUp(quick.id);
    expect((await read(slow.id)).last_delivered).toBeNull();
    release();
    await caughtUp(slow.id);
  });

  // AU-92, AU-96
  test("applies a new secret, a new URL and a deletion from the next call on, not to a call in flight", async () => {
    const begun = await head();
    const { reached, release } = hold(receiver);
    const stream = await create();
    await writeEvents(audit, 2);
    await reached;
    const rotation = `${STREAMS}/${stream.id}/rotate-secret`;
    const { secret } = (await call("POST", rotation, { overlap_seconds: 0 })).body;
    await call("PATCH", `${STREAMS}/${stream.id}`, { url: other.url });
    release();
    await writeEvents(audit, 2);
    await caughtUp(stream.id);
    const [first] = receiver.calls;
    expect(receiver.calls).toHaveLength(1);
    new Webhook(stream.secret).verify(first?.body ?? "", first?.headers ?? {});
    for (const { body, headers } of other.calls) new Webhook(secret).verify(body, headers);
    receiver.calls.push(...other.calls);
    expect(proven(receiver, begun).position).toBe((await head()).position);

    other.calls.length = 0;
    const deletion = hold(other);
    await writeEvents(audit, 2);
    await waitFor(() => other.calls.length === 1);
    expect((await call("DELETE", `${STREAMS}/${stream.id}`)).status).toBe(204);
    deletion.release();
    const next = await create();
    receiver.respond = () => new Response(null);
    await writeEvents(audit, 2);
    await caughtUp(next.id);
    expect(other.calls).toHaveLength(1);
  });

  // AU-104
  test.each<[string, ResponseInit]>([
    ["is gone", { status: 410 }],
    ["asks for a pause of a day", { status: 503, headers: { "Retry-After": "86400" } }],
  ])(
    "calls a new URL at once, although a call in flight learns that the old receiver %s",
    async (_, response) => {
      const begun = await head();
      const { reached, release } = hold(receiver, response);
      const stream = await create();
      await writeEvents(audit, 2);
      await reached;
      await call("PATCH", `${STREAMS}/${stream.id}`, { url: other.url });
      release();
      await caughtUp(stream.id);
      expect(await read(stream.id)).toMatchObject(WORKING);
      expect(proven(other, begun).position).toBe((await head()).position);
    },
  );
});
