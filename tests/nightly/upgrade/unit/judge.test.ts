import { describe, expect, test } from "bun:test";
import type { Answer } from "../../faults/cell-run.ts";
import type { Client } from "../../faults/clients.ts";
import { anAnswer, aRun } from "../../faults/unit/a-run.ts";
import { brokenIn, lineOf, type Step } from "../judge.ts";
import type { Part } from "../orders.ts";

function aStep(part: Part, answers: readonly Answer[]): Step {
  return { order: "forward", part, run: aRun({ parts: [], fault: "killed" }, { answers }) };
}

function failing(client: Client, startedMs: number, status: number | null): Answer {
  return anAnswer(client, startedMs, { status, endedMs: startedMs + 5 });
}

describe("the judge of an upgrade", () => {
  test.each([
    ["gateway", "public", null],
    ["registry", "publish", null],
    ["audit", "audited", 503],
    ["identity", "unseen", 503],
  ] as const)("blames the upgrade for a request that %s loses while it stops", (part, client, status) => {
    const lost = failing(client, 11_700, status);
    expect(brokenIn(aStep(part, [lost]))).toHaveLength(1);
    expect(lineOf(aStep(part, [lost]))).toContain("1 other failures");
  });

  test("excuses the end of streams by a gateway, and by no other service", () => {
    const ends = [failing("stream", 10_500, null), failing("socket", 10_500, null)];
    expect(brokenIn(aStep("gateway", ends))).toEqual([]);
    expect(lineOf(aStep("gateway", ends))).toContain("2 streams ended, 0 other failures");
    expect(brokenIn(aStep("identity", ends))).toHaveLength(2);
  });

  test("never excuses an admission of a credential that must be refused", () => {
    expect(brokenIn(aStep("identity", [failing("refused", 11_700, 200)])).length).toBeGreaterThan(0);
  });
});
