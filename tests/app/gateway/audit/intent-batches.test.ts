import { describe, expect, test } from "bun:test";
import { type AuditStandIn, eachIs, responding, taken } from "../../../support/gateway/audit-stand-in.ts";
import { waitFor } from "../../../support/index.ts";
import { intent, pausesPass, useTimedRecording } from "./bed.ts";

const { audit, recorder, clock } = useTimedRecording();

/**
 * Records `count` intents at once. Returns 0 for each recorded intent, and the error's status for the others.
 */
function statuses(count: number, first = 0): Promise<number[]> {
  const written = Array.from({ length: count }, (_, at) =>
    recorder.intent(`r${first + at}`, intent).then(
      () => 0,
      (error) => error.status,
    ),
  );
  return Promise.all(written);
}
const sizes = () => audit.intentBatches.map((batch) => batch.length);
const nothing = (count: number) => Array(count).fill(0);

// GW-147
describe("intents that come at the same time", () => {
  test("are sent together, at most a hundred in one call", async () => {
    audit.respondToIntents = eachIs("created");
    expect(await statuses(250)).toEqual(nothing(250));
    expect(sizes()).toEqual([100, 100, 50]);
    expect(audit.intentBatches[0]?.[0]).toEqual({ request_id: "r0", ...intent });
    expect(audit.writes).toEqual([]);
    expect(await recorder.counts()).toEqual({ "intent ok": 250 });
  });

  test("are sent in one call if they come during another call", async () => {
    const gate = Promise.withResolvers<void>();
    audit.respondToIntents = async (intents) => {
      if (audit.intentBatches.length === 1) await gate.promise;
      return eachIs("existing")(intents);
    };
    const early = statuses(2);
    await waitFor(() => sizes().length === 1);
    const late = statuses(3, 2);
    gate.resolve();
    expect(await Promise.all([early, late])).toEqual([nothing(2), nothing(3)]);
    expect(sizes()).toEqual([2, 3]);
  });

  test("are not delayed by an earlier call without a response", async () => {
    const ended = Promise.withResolvers<void>();
    audit.respondToIntents = async (intents) => {
      if (intents[0]?.request_id === "r0") await ended.promise;
      return eachIs("created")(intents);
    };
    const silent = statuses(2);
    await waitFor(() => sizes().length === 1);
    const late = statuses(3, 2);
    // They wait at most 5 ms for the call in flight.
    clock.advance(5);
    expect(await late).toEqual(nothing(3));
    expect(sizes()).toEqual([2, 3]);
    ended.resolve();
    expect(await silent).toEqual(nothing(2));
  });

  test("each have their own result: the others are recorded if one is refused", async () => {
    audit.respondToIntents = (intents) =>
      Response.json({
        results: intents.map(({ request_id }) => ({
          request_id,
          result: request_id === "r1" ? "invalid" : "created",
        })),
      });
    expect(await statuses(3)).toEqual([0, 503, 0]);
    expect(recorder.lines).toEqual(['the audit service refused an intent {"request_id":"r1"}']);
  });

  const status = (status: number) => () => new Response(null, { status });
  test.each<[string, AuditStandIn["respondToIntents"]]>([
    ["text", () => new Response("taken")],
    ["too few results", () => Response.json({ results: [] })],
    ["an unknown result", eachIs("applied")],
    ["422", status(422)],
  ])("are sent one by one in the same attempt if the response is %s", async (_, respond) => {
    audit.respondToIntents = respond;
    expect(await statuses(3)).toEqual(nothing(3));
    expect(audit.of("PUT")).toHaveLength(3);
  });

  test("are retried one by one if their call fails, and each is recorded or refused", async () => {
    audit.respondToIntents = eachIs("created");
    await statuses(2);
    audit.respondToIntents = () => new Response(null, { status: 503 });
    audit.respond = (write) => (write.path.endsWith("/r3") ? responding(503)(write) : taken(write));
    const written = statuses(3, 2);
    await pausesPass(clock, 3);
    await pausesPass(clock, 1);
    expect(await written).toEqual([0, 503, 0]);
    await waitFor(() => audit.of("PATCH").length === 1);
    expect(audit.of("PATCH")).toMatchObject([{ path: "/internal/events/r3", body: { outcome: "rejected" } }]);
  });
});
