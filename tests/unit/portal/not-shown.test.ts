import { expect, test } from "bun:test";
import type { NotShown } from "@ostiary/lib/verification/not-shown";
import { de } from "../../../apps/portal/page/texts/de.ts";
import { en } from "../../../apps/portal/page/texts/en.ts";

/** The facts that no export can show, in the languages of the page. */

const FACTS: [NotShown, string, string][] = [
  [{ code: "cut", checkpoint: 7, old: false }, "after checkpoint 7", "nach Checkpoint 7"],
  [
    { code: "cut", checkpoint: 7, old: true },
    "newer events than those of checkpoint 7",
    "die von Checkpoint 7",
  ],
  [{ code: "other_history" }, "another history", "andere Geschichte"],
  [{ code: "tree", checkpoint: 7 }, "checkpoint 7 is in the tree", "Checkpoint 7 im Baum"],
  [{ code: "author", months: false }, "made all of it anew. Only", "neu gemacht haben. Nur"],
  [{ code: "author", months: true }, "anew, months that", "haben, auch die Monate"],
  [{ code: "days", count: 1, first: "2026-01-02", last: "2026-01-02" }, "on 2026-01-02:", "am 2026-01-02:"],
  [
    { code: "days", count: 3, first: "2026-01-02", last: "2026-01-09" },
    "on 3 days from 2026-01-02 to 2026-01-09",
    "an 3 Tagen vom 2026-01-02 bis 2026-01-09",
  ],
  [{ code: "dropped", entries: 5 }, "the 5 dropped entries", "der 5 gelöschten Einträge"],
];

// PT-47
test.each(FACTS)("%j is said in English and in German", (fact, english, german) => {
  expect(en.audit.verify.fact(fact)).toContain(english);
  expect(de.audit.verify.fact(fact)).toContain(german);
});
