import { describe, expect, test } from "bun:test";
import type { Answer } from "../../faults/cell-run.ts";
import type { Client } from "../../faults/clients.ts";
import { brokenIn, lineOf, type Step } from "../../upgrade/judge.ts";
import type { Part } from "../../upgrade/orders.ts";
import { anAnswer, aRun } from "../faults/a-run.ts";

/** The interval in which a process of the older version closes its port. */
const LOSING = [{ beginsMs: 11_500, endsMs: 12_000 }];

function aStep(part: Part, answers: readonly Answer[], losing: Step["losing"] = LOSING): Step {
  const run = aRun({ parts: [], fault: "killed" }, { answers });
  return { order: "forward", part, run, losing };
}

function failing(client: Client, startedMs: number, status: number | null, endedMs = startedMs + 5): Answer {
  return anAnswer(client, startedMs, { status, endedMs });
}

describe("the judge of an upgrade", () => {
  test.each([
    ["gateway", "public", null],
    ["registry", "publish", null],
    ["audit", "audited", 503],
    ["identity", "unseen", 503],
  ] as const)("excuses a call that an older %s lost while it closed its port", (part, client, status) => {
    const lost = failing(client, 11_700, status);
    expect(brokenIn(aStep(part, [lost]))).toEqual([]);
    expect(lineOf(aStep(part, [lost]))).toContain("1 calls lost by the version before, 0 other failures");
    expect(brokenIn(aStep(part, [lost], []))).toHaveLength(1);
    expect(lineOf(aStep(part, [lost], []))).toContain("1 other failures");
  });

  test("excuses a call that was in progress when the port started to close, or that ended after it closed", () => {
    expect(brokenIn(aStep("gateway", [failing("jwt", 11_490, null, 11_510)]))).toEqual([]);
    expect(brokenIn(aStep("gateway", [failing("jwt", 11_999, null, 12_900)]))).toEqual([]);
  });

  test("blames the upgrade for a call that fails before the port closes or after the process ended", () => {
    expect(brokenIn(aStep("gateway", [failing("jwt", 11_000, null)]))).toHaveLength(1);
    expect(brokenIn(aStep("gateway", [failing("jwt", 12_001, null)]))).toHaveLength(1);
  });

  test("blames the upgrade for a client that does not call the replaced service", () => {
    expect(brokenIn(aStep("audit", [failing("cached", 11_700, 503)]))).toHaveLength(1);
    expect(brokenIn(aStep("identity", [failing("audited", 11_700, 503)]))).toHaveLength(1);
    expect(brokenIn(aStep("registry", [failing("public", 11_700, null)]))).toHaveLength(1);
    expect(brokenIn(aStep("gateway", [failing("publish", 11_700, null)]))).toHaveLength(1);
  });

  test("blames the upgrade for a status that a lost call does not have", () => {
    expect(brokenIn(aStep("gateway", [failing("public", 11_700, 503)]))).toHaveLength(1);
    expect(brokenIn(aStep("gateway", [failing("public", 11_700, 404)]))).toHaveLength(1);
    expect(brokenIn(aStep("audit", [failing("audited", 11_700, null)]))).toHaveLength(1);
    expect(brokenIn(aStep("identity", [failing("refused", 11_700, 500)]))).toHaveLength(1);
  });

  test("excuses the end of streams by a gateway of any version, and by no other service", () => {
    const ends = [failing("stream", 10_500, null), failing("socket", 10_500, null)];
    expect(brokenIn(aStep("gateway", ends, []))).toEqual([]);
    expect(lineOf(aStep("gateway", ends, []))).toContain("2 streams ended, 0 other failures");
    expect(brokenIn(aStep("identity", ends))).toHaveLength(2);
  });

  test("never excuses an admission of a credential that must be refused", () => {
    expect(brokenIn(aStep("identity", [failing("refused", 11_700, 200)])).length).toBeGreaterThan(0);
  });
});
