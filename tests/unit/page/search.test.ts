import { describe, expect, test } from "bun:test";
import { foldOf, hasWords, wordsOf } from "@ostiary/lib/page/search";

/** Returns whether a search finds a text in every pair of normal forms. */
function findsInEveryForm(text: string, search: string): boolean {
  const forms = ["NFC", "NFD", "NFKC", "NFKD"] as const;
  return forms.every((stored) =>
    forms.every((typed) => hasWords(foldOf(text.normalize(stored)), wordsOf(search.normalize(typed)))),
  );
}

describe("a search", () => {
  test.each([
    ["Zoë Müller", "zoë müller"],
    ["Zoë Müller", "MULLER zoe"],
    ["Åsa Ångström", "ångström"],
    ["Nguyễn Thị Hương", "nguyen huong"],
    ["İpek Işık", "ipek ışık"],
    ["ipek ISIK", "İPEK ışık"],
    ["한국어", "한국"],
    ["Ｗｉｄｇｅｔｓ", "widgets"],
    ["Ἀθηνᾶ", "αθηνα"],
  ])("finds %p by %p, composed or decomposed", (text, search) => {
    expect(findsInEveryForm(text, search)).toBe(true);
  });

  test.each([
    ["Zoë", "zoey"],
    ["Müller", "mueller"],
    ["Ada Lovelace", "ada king"],
  ])("does not find %p by %p", (text, search) => {
    expect(hasWords(foldOf(text), wordsOf(search))).toBe(false);
  });

  test("takes the dotted and the dotless i of Turkish for the same letter", () => {
    expect(["TITLE", "title", "Tıtle", "TİTLE"].map(foldOf)).toEqual(Array(4).fill("title"));
  });
});
