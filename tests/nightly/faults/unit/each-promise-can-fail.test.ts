import { expect, test } from "bun:test";
import type { Answer, CellRun, Reached } from "../cell-run.ts";
import { CELLS, type Cell, nameOf } from "../cells.ts";
import { type Client, LIMITS } from "../clients.ts";
import { judge, PROMISES } from "../promises/index.ts";
import { anAnswer, aRun, aWindow, NOTHING_SEEN, TIMES } from "./a-run.ts";

const cell = (name: string): Cell => {
  const found = CELLS.find((each) => nameOf(each) === name);
  if (found === undefined) throw new Error(`There is no cell ${name}.`);
  return found;
};
const broken = (run: CellRun) =>
  judge(run, { timed: true }).flatMap((each) => (each.broken.length > 0 ? [each.promise] : []));
const during = TIMES.brokenMs + 100;
const after = TIMES.returnedMs + 6_000;
const reached = (more: Partial<Reached> = {}): Reached => ({
  request_id: "request",
  client: "audited",
  owner: "organization",
  caller: "organization",
  ...more,
});
/** Returns one answer that took `ms` during the fault, as part of a run. */
const answered = (client: Client, more: Partial<Answer> = {}, ms = 5) => ({
  answers: [{ ...anAnswer(client, during, more), endedMs: during + ms }],
});

const cases: [promise: string, name: string, more: Partial<CellRun>][] = [
  ["admission", "identity/killed", { reached: [reached({ client: "cached", owner: "another" })] }],
  ["limits", "audit/killed", { answers: aWindow(during, 114, LIMITS.requests + 1, 3) }],
  ["limits", "audit/killed", { answers: aWindow(4_500, 108, LIMITS.requests - 1, 4) }],
  ["no-fallback", "redis/killed", answered("limited")],
  ["uncounted", "redis/black-holed", answered("limited", { status: 503 }, LIMITS.uncountedMs + 1)],
  ["without-redis", "redis/cut", answered("public", { status: 502 })],
  ["without-etcd", "etcd/killed", answered("cached", { status: 404 })],
  ["without-identity", "identity/killed", answered("cached", { status: 503 })],
  ["without-postgres", "postgres/frozen", answered("jwt", { status: 503 })],
  ["without-audit", "audit/cut", answered("limited", { status: 503 })],
  ["without-service", "upstream/killed", answered("publish", { status: 503 })],
  ["without-gateway", "gateway/killed", answered("public", { status: null, replica: 1 })],
  ["fails-closed", "audit/black-holed", answered("audited")],
  ["unrecorded", "audit/frozen", answered("audited", { status: 503 }, LIMITS.unrecordedMs + 1)],
  ["events", "audit/killed", { reached: [reached()] }],
  ["outcomes", "audit/killed", { reached: [reached()], events: new Map([["request", "pending"]]) }],
  ["streams", "audit/frozen", { streams: { ...NOTHING_SEEN, missing: ["3 entries"] } }],
  ["heals", "redis/killed", { answers: [anAnswer("limited", after, { status: 503 })] }],
  ["hangs", "upstream/frozen", answered("public", { status: 502 }, LIMITS.upstreamMs + 500)],
  ["slowness", "postgres/slowed", answered("audited", { status: 503 })],
  ["clocks", "postgres/set-back", answered("unseen", { status: 401 })],
];

test.each(cases)("the promise %s can be broken (%s)", (promise, name, more) => {
  expect(broken(aRun(cell(name), more))).toContain(promise);
});

test("every promise has a case", () => {
  expect(new Set(cases.map(([promise]) => promise))).toEqual(new Set(PROMISES.map(({ name }) => name)));
});

test("a run in which every promise held breaks none, in any cell", () => {
  const events = new Map([["request", "responded"]]);
  const answers = [...aWindow(1_000, 104, LIMITS.requests, 5), ...aWindow(5_100, 108, LIMITS.requests, 9)];
  for (const each of CELLS) {
    expect([nameOf(each), broken(aRun(each, { reached: [reached()], events, answers }))]).toEqual([
      nameOf(each),
      [],
    ]);
  }
});
