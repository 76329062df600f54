import { afterEach, describe, expect, test } from "bun:test";
import type { AdmissionChange } from "@ostiary/lib/contracts/admission";
import { member, person } from "../../../support/gateway/identity-stand-in.ts";
import { waitFor } from "../../../support/index.ts";
import { type Admission, admission, key } from "./bed.ts";

let gate: Admission;
afterEach(() => gate.close());

/** Starts admission with a cached result for a person, for two members of an organization, and for a refused key. */
async function started() {
  gate = admission({ ADMISSION_CHANGES_WAIT_MS: "10000" });
  const known = {
    person: gate.known("k-2", person("u1")),
    first: gate.known("k-2", member({ organization_id: "o1", member_id: "m1" })),
    second: gate.known("k-2", member({ organization_id: "o1", member_id: "m2" })),
    refused: gate.known("k-2", { valid: false }),
  };
  await gate.start();
  await nextGap();
  await useAll(known);
  return known;
}

/** Waits until the reader pauses after a response. */
const nextGap = () => waitFor(() => gate.time.waiting().includes(100));

type Known = Awaited<ReturnType<typeof started>>;

async function useAll(known: Known): Promise<void> {
  for (const credential of Object.values(known)) await gate.outcome("user", key(credential));
}

/** Publishes changes, and returns the names of the credentials that the gateway validates again. */
async function validatedAfter(known: Known, change: () => void): Promise<string[]> {
  change();
  gate.time.advance(1_000);
  await nextGap();
  gate.identity.calls.length = 0;
  await useAll(known);
  const names = Object.entries(known);
  return gate.identity.calls.map(
    (call) => names.find(([, text]) => JSON.stringify(call).includes(text))?.[0] ?? "",
  );
}

const publish = (change: AdmissionChange) => () => void gate.identity.changes.push(change);

// GW-221, GW-222
describe("a change of an admission", () => {
  const rows: [string, AdmissionChange, string[]][] = [
    ["of a person", { user_id: "u1", readmits: false }, ["person"]],
    ["of a member", { member_id: "m1", readmits: false }, ["first"]],
    ["of an organization", { organization_id: "o1", readmits: false }, ["first", "second"]],
    ["of somebody without cached results", { member_id: "m9", readmits: false }, []],
    ["that readmits voids refusals too", { member_id: "m1", readmits: true }, ["first", "refused"]],
  ];
  test.each(rows)("%s", async (_, change, validated) => {
    const known = await started();
    expect(await validatedAfter(known, () => {})).toEqual([]);
    expect(await validatedAfter(known, publish(change))).toEqual(validated);
    expect(await validatedAfter(known, () => {})).toEqual([]);
  });

  test("a reset voids everything", async () => {
    const known = await started();
    const reset = () => {
      gate.identity.overrideChanges = () => {
        gate.identity.overrideChanges = null;
        gate.identity.changesReported += 1;
        return Response.json({ reset: true, next: "0" });
      };
    };
    expect(await validatedAfter(known, reset)).toEqual(Object.keys(known));
  });

  test("more changes than can be read in time void everything", async () => {
    const known = await started();
    const others = (from: number): AdmissionChange[] =>
      Array.from({ length: 1_000 }, (_, index) => ({ user_id: `other ${from + index}`, readmits: false }));
    let count = 0;
    gate.identity.overrideChanges = (after) => {
      count += 1;
      return Response.json({ changes: after === null ? [] : others(count * 1_000), next: "0" });
    };
    expect(await validatedAfter(known, () => {})).toEqual(Object.keys(known));
    expect(count).toBeLessThan(20);
  });

  test("a cursor that identity refuses is dropped, with everything", async () => {
    const known = await started();
    gate.identity.overrideChanges = (after) => {
      if (after !== null) return new Response("", { status: 422 });
      gate.identity.overrideChanges = null;
      return Response.json({ changes: [], next: "0" });
    };
    gate.time.advance(1_000);
    await waitFor(() => {
      gate.time.advance(50);
      return gate.identity.overrideChanges === null;
    });
    expect(await validatedAfter(known, () => {})).toEqual(Object.keys(known));
  });

  test("a validation in flight is not joined by later requests, and not cached", async () => {
    const known = await started();
    const held = Promise.withResolvers<Response>();
    const credential = gate.known("k-2", { valid: false });
    gate.identity.override = () => held.promise;
    const early = gate.outcome("member", key(credential));
    await waitFor(() => gate.identity.calls.length > Object.keys(known).length);
    gate.identity.changes.push({ member_id: "m9", readmits: false });
    gate.time.advance(1_000);
    await nextGap();
    gate.identity.override = null;
    expect(await gate.verdict("member", key(credential))).toBe(401);
    held.resolve(Response.json(member({ member_id: "m9" })));
    expect(await early).toMatchObject({ member_id: "m9" });
    expect(await gate.verdict("member", key(credential))).toBe(401);
  });
});

// GW-223
describe("while identity does not report changes", () => {
  test("cached results count, a warning says so once, and what changed meanwhile is void after contact", async () => {
    const known = await started();
    gate.identity.overrideChanges = () => new Response("", { status: 503 });
    publish({ user_id: "u1", readmits: false })();
    const calls = gate.identity.calls.length;
    for (let attempt = 0; attempt < 3; attempt++) {
      gate.time.advance(1_000);
      await waitFor(() => gate.time.waiting().some((ms) => ms <= 400));
    }
    await useAll(known);
    expect(gate.identity.calls).toHaveLength(calls);
    expect(gate.lines.filter((line) => line.includes("cannot read changes"))).toHaveLength(1);
    gate.identity.overrideChanges = null;
    expect(await validatedAfter(known, () => {})).toEqual(["person"]);
    expect(gate.lines.at(-1)).toStartWith("the gateway reads changes of admissions again");
  });

  test("a response of another form changes nothing", async () => {
    const known = await started();
    const bodies = [
      "",
      "[]",
      "{}",
      '{"changes":[]}',
      '{"changes":[{"readmits":true}],"next":"1"}',
      '{"reset":false,"next":"1"}',
    ];
    for (const body of bodies) {
      gate.identity.overrideChanges = () => new Response(body);
      gate.time.advance(1_000);
      await waitFor(() => gate.time.waiting().some((ms) => ms <= 400));
    }
    gate.identity.overrideChanges = null;
    expect(await validatedAfter(known, () => {})).toEqual([]);
  });

  test("ADMISSION_CHANGES_WAIT_MS=0 turns it off", async () => {
    gate = admission({ ADMISSION_CHANGES_WAIT_MS: "0" });
    await gate.start();
    gate.time.advance(10_000);
    expect(gate.identity.changesReported).toBe(0);
  });
});
