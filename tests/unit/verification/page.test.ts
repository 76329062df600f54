import { expect, test } from "bun:test";
import { join } from "node:path";
import {
  contentHash,
  eventEntryHash,
  hashFromHex,
  hexOf,
  mapLeaf,
  mapValue,
  nextInChain,
  sha256,
  sha256InBrowser,
  ZERO_HASH,
} from "@ostiary/lib/domain/proof";
import { leafHash } from "@ostiary/lib/domain/tlog";
import fc from "fast-check";
import { ROOT } from "../../support/root.ts";

// AU-50, AU-140
test("the example of the format's page is what the library computes", async () => {
  const page = await Bun.file(join(ROOT, ".github/guides/audit-proof.md")).text();
  const example = page.slice(page.indexOf("## An example"));
  const blocks = [...example.matchAll(/```text\n(.*?)\n```/gs)].map(([, text = ""]) => text.split("\n"));
  const [entries = [], map = [], leaf = []] = blocks;
  const [intent = "", intentHash, entryHash, first, outcome = "", outcomeHash, second = ""] = entries;
  const hash = eventEntryHash(contentHash(intent), "2025-12");
  const chain = nextInChain(ZERO_HASH, hash);
  expect([intentHash, entryHash, first]).toEqual([contentHash(intent), hash, chain].map(hexOf));
  const head = nextInChain(chain, eventEntryHash(contentHash(outcome), "2025-12"));
  expect([outcomeHash, second]).toEqual([contentHash(outcome), head].map(hexOf));
  const [key, value] = [sha256("organization:acme"), mapValue({ position: 2, chain: hashFromHex(second) })];
  expect(map).toEqual([key, value, mapLeaf(key, value)].map(hexOf));
  const [text = "", ...hashes] = leaf;
  expect(JSON.parse(text)).toMatchObject({ number: 0, map: map[2] });
  expect(hashes).toEqual([hexOf(leafHash(text)), leafHash(text).toBase64()]);
});

// AU-50
test("the page's SHA-256 equals the runtime's for random and all short inputs", () => {
  const isSame = (data: string | Uint8Array) =>
    expect(sha256InBrowser(data).toHex()).toBe(sha256(data).toHex());
  const isSameFor = fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.string({ unit: "binary" }));
  fc.assert(fc.property(isSameFor, (data) => void isSame(data)));
  for (let length = 0; length <= 200; length++) isSame(new Uint8Array(length).fill(length));
});
