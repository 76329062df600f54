/** Tests of the sentences for the findings of a verification, in each language of the page. */
import { describe, expect, test } from "bun:test";
import type { Finding, FindingCode } from "@ostiary/lib/verification/findings";
import { ENGLISH } from "@ostiary/lib/verification/findings";
import { de } from "../../../apps/portal/page/texts/de.ts";
import { en } from "../../../apps/portal/page/texts/en.ts";

const PLACE = {
  line: 11,
  event_id: "01K9ZZZZZZZZZZZZZZZZZZZZZZ",
  position: 22,
  to: 33,
  leaf: 44,
  root: "kept.txt",
};
const isCode = (code: string): code is FindingCode => code in ENGLISH;
const CODES = Object.keys(ENGLISH).filter(isCode);
const found = (code: Finding["code"]): Finding => ({ code, place: PLACE, expected: "this", found: "that" });

// PT-47
describe.each(Object.entries({ en, de }))("in %s", (_language, { audit }) => {
  const { finding: say } = audit.verify;

  test.each(CODES)("%s has a sentence with its place, what was expected and what was found", (code) => {
    const sentence = say(found(code));
    expect(sentence).toMatch(/^\p{Lu}.*: \p{Lu}.*\. \p{Lu}.*: this\. \p{Lu}.*: that\.$/u);
    for (const value of Object.values(PLACE)) expect(sentence).toContain(String(value));
    expect(say({ code, place: {}, expected: null, found: null })).toMatch(/^\p{Lu}.*\.$/u);
  });

  test("no two codes have the same sentence", () => {
    expect(new Set(CODES.map((code) => say(found(code)))).size).toBe(CODES.length);
  });
});

// PT-47
test("no German sentence equals the English one", () => {
  for (const code of CODES)
    expect(de.audit.verify.finding(found(code))).not.toBe(en.audit.verify.finding(found(code)));
});
