import { describe, expect, test } from "bun:test";
import {
  parseSnapshot,
  type SealWindow,
  type Snapshot,
  sealedAfter,
  snapshotText,
  windowAfter,
} from "@ostiary/audit/sealing/snapshot";
import {
  canonicalJson,
  type Head,
  hashFromHex,
  headLeaf,
  hexOf,
  intentEntry,
  isIncluded,
  type LoggedEvent,
  outcomeEntry,
  sha256,
} from "@ostiary/lib/domain/proof";
import fc from "fast-check";
import { headTree, inTreeOrder } from "../../support/audit/trees-of-heads.ts";

const text = fc.string({ unit: "binary" });
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value);
const event: fc.Arbitrary<LoggedEvent> = fc.record({
  id: text,
  occurred_at: text,
  request_id: text,
  organization_id: orNull(text),
  user_id: fc.oneof(fc.constant(undefined), orNull(text)),
  actor: fc.record({ member_id: orNull(text), auth_type: text, key_prefix: orNull(text) }),
  service: text,
  method: text,
  route: text,
  params: fc.dictionary(text, text),
  ip: text,
  user_agent: orNull(text),
  outcome: text,
  status: orNull(fc.integer()),
  details: orNull(fc.dictionary(text, fc.jsonValue())),
  created_id: orNull(text),
});

describe("an entry", () => {
  test("is canonical JSON, whatever the event contains", () => {
    fc.assert(
      fc.property(
        event,
        orNull(fc.record({ organization_id: orNull(text), member_id: orNull(text) })),
        (given, written) => {
          for (const entry of [intentEntry(given, written, "00"), outcomeEntry(given, written, "00")]) {
            expect(entry).toBe(canonicalJson(JSON.parse(entry)));
          }
        },
      ),
    );
  });
});

describe("the tree of heads", () => {
  const head = (owner: string, position: number): Head => ({ owner, position, chain: sha256(owner) });

  test("proves each head at its own index, and nothing else", () => {
    for (let size = 1; size <= 70; size++) {
      const heads = inTreeOrder(Array.from({ length: size }, (_, n) => head(`user:${n}`, n + 1)));
      const { root, inclusions } = headTree(heads);
      for (const [index, inclusion] of inclusions.entries()) {
        const own = heads[index] ?? head("", 0);
        const leaf = headLeaf(own);
        expect(isIncluded(leaf, inclusion, root)).toBe(true);
        expect(isIncluded(headLeaf({ ...own, position: own.position + 1 }), inclusion, root)).toBe(false);
        expect(isIncluded(leaf, { ...inclusion, index: (index + 1) % (size + 1) }, root)).toBe(false);
        expect(isIncluded(leaf, { ...inclusion, path: [...inclusion.path, hexOf(leaf)] }, root)).toBe(false);
        if (size > 1)
          expect(isIncluded(leaf, { ...inclusion, path: inclusion.path.slice(1) }, root)).toBe(false);
      }
    }
  });

  test("does not accept an inner node as a leaf, or a wrong size", () => {
    const [first, second] = [head("user:a", 1), head("user:b", 1)];
    const { root } = headTree([first, second]);
    expect(
      isIncluded(hashFromHex(hexOf(root)), { index: 0, size: 1, path: [] }, headTree([first]).root),
    ).toBe(false);
    for (const size of [0, -1, 1.5, Number.MAX_SAFE_INTEGER]) {
      expect(isIncluded(headLeaf(first), { index: 0, size, path: [] }, root)).toBe(false);
    }
  });
});

describe("a window of transactions", () => {
  test("contains each transaction that ended between two snapshots exactly once, in any number of steps", () => {
    const steps = fc.array(
      fc.record({
        grow: fc.nat(6),
        ends: fc.array(fc.boolean(), { maxLength: 8 }),
        bound: fc.option(fc.nat(9)),
      }),
    );
    fc.assert(
      fc.property(steps, (given) => {
        let sealed: Snapshot = { xmax: 3n, running: [] };
        let now: Snapshot = { xmax: 3n, running: [] };
        const found: bigint[] = [];
        for (const { grow, ends, bound } of given) {
          const begun = Array.from({ length: grow }, (_, n) => now.xmax + BigInt(n));
          const running = [...now.running.filter((_, n) => !ends[n]), ...begun];
          now = { xmax: now.xmax + BigInt(grow), running };
          const window = windowAfter(sealed, now, bound === null ? null : sealed.xmax + BigInt(bound));
          found.push(...seenIn(window));
          sealed = parseSnapshot(snapshotText(sealedAfter(window)));
        }
        found.push(...seenIn(windowAfter(sealed, { ...now, running: [] }, null)));
        expect(found.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(
          Array.from({ length: Number(now.xmax) - 3 }, (_, n) => BigInt(n + 3)),
        );
      }),
    );
  });
});

/** Returns the transactions of a window that were no longer running. */
function seenIn({ late, from, before, now }: SealWindow): bigint[] {
  const next = Array.from({ length: Number(before - from) }, (_, n) => from + BigInt(n));
  return [...late, ...next].filter((xid) => !now.running.includes(xid));
}
