import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { EFFECTS } from "@ostiary/lib/domain/routes";
import { ROOT } from "../../support/root.ts";

const styles = await Bun.file(join(ROOT, "apps/console/styles/review.css")).text();

/** Returns the background of the rule that has only this selector. */
function backgroundOf(selector: string): string | undefined {
  const [, rule = ""] = styles.split(`\n\n${selector} {`);
  return /^\s*background: ([^;]+);/.exec(rule)?.[1];
}

describe("the review of a document", () => {
  test("shows added, removed and changed settings in different colors", () => {
    const kinds = ["added", "removed", "changed"];
    expect(kinds.map((kind) => backgroundOf(`.change-${kind} .sign`))).toEqual([
      "var(--good-soft)",
      "var(--bad-soft)",
      "var(--warn-soft)",
    ]);
  });

  test("shows each mark in a color of its own", () => {
    expect(EFFECTS.map((effect) => backgroundOf(`.mark-${effect}`))).toEqual([
      "var(--opens-soft)",
      "var(--bad-soft)",
    ]);
  });
});
