import { expect, test } from "bun:test";
import { type Bounds, type Change, type Gap, judge, type Use } from "../judge.ts";

const YES = { admitted: true, labelled: true, plan: null };
const NO = { admitted: false };
const CREATED: Change = { what: "created", startedMs: 0, respondedMs: 0, admission: YES };
const REVOKED: Change = { what: "key revoked", startedMs: 9_900, respondedMs: 10_000, admission: NO };
const change = (more: Partial<Change>): Change => ({ ...REVOKED, ...more });
const use = (sentMs: number, admission: Use["admission"] = YES): Use => ({
  gateway: 0,
  sentMs,
  respondedMs: sentMs + 10,
  admission,
});
const without = (fromMs: number, toMs: number, gateway = 0): Gap => ({ gateway, fromMs, toMs });
const FOREVER = Number.POSITIVE_INFINITY;

const cases: [name: string, holds: boolean, uses: Use[], changes?: Change[], bounds?: Partial<Bounds>][] = [
  ["admitted within two seconds", true, [use(11_990)]],
  ["admitted after two seconds", false, [use(12_010)]],
  ["sent within two seconds, with a late response", true, [{ ...use(11_990), respondedMs: 15_000 }]],
  ["refused at once", true, [use(10_100, NO), use(20_000, NO)]],
  ["refused during the revocation", true, [{ ...use(9_880, NO), respondedMs: 9_950 }]],
  ["refused before the revocation", false, [use(9_000, NO)]],
  ["without a decision", true, [use(20_000, null)]],
  ["cut off, within the TTL", true, [use(17_000)], undefined, { gaps: [without(9_000, FOREVER)] }],
  [
    "cut off after the response, within the TTL",
    true,
    [use(17_000)],
    undefined,
    { gaps: [without(11_000, FOREVER)] },
  ],
  ["cut off, beyond the TTL", false, [use(19_000)], undefined, { gaps: [without(9_000, FOREVER)] }],
  ["within two seconds of contact", true, [use(15_900)], undefined, { gaps: [without(9_000, 14_000)] }],
  ["two seconds after contact", false, [use(16_100)], undefined, { gaps: [without(9_000, 14_000)] }],
  ["contact before the revocation", false, [use(12_100)], undefined, { gaps: [without(5_000, 9_990)] }],
  ["cut off after two seconds", false, [use(14_000)], undefined, { gaps: [without(12_100, FOREVER)] }],
  ["another gateway is cut off", false, [use(12_100)], undefined, { gaps: [without(9_000, FOREVER, 1)] }],
  ["processes waited for a processor", true, [use(12_400)], undefined, { delayMs: () => 500 }],
  ["processes waited less", false, [use(12_600)], undefined, { delayMs: () => 500 }],
  [
    "not admitted again",
    false,
    [use(20_000, NO)],
    [change({ admission: NO }), change({ admission: YES, startedMs: 15_000, respondedMs: 15_100 })],
  ],
  ["an old role", false, [use(20_000)], [change({ admission: { ...YES, labelled: false } })]],
  ["an old plan", false, [use(20_000)], [change({ admission: { ...YES, plan: "gold" } })]],
  [
    "a plan that the response does not tell",
    true,
    [use(20_000, { admitted: true, labelled: true })],
    [change({ admission: { ...YES, plan: "gold" } })],
  ],
];

test.each(cases)("%s: the promise is kept: %p", (_, holds, uses, changes = [REVOKED], bounds = {}) => {
  const history = { name: "key", changes: [CREATED, ...changes] as const, uses };
  const { broken } = judge(history, { gaps: [], ttlMs: 8_000, delayMs: () => 0, ...bounds });
  expect(broken).toEqual(holds ? [] : uses);
});
