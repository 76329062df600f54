import { describe, expect, test } from "bun:test";
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
const streamed = (more: object) => ({ streams: { ...NOTHING_SEEN, ...more } });
/** Returns one answer during the fault, as part of a run. */
const answered = (client: Client, more: Partial<Answer> = {}) => ({
  answers: [anAnswer(client, during, more)],
});
/** Returns one answer that took `ms` during the fault, as part of a run. */
const answeredAfter = (ms: number, client: Client, more: Partial<Answer>) => ({
  answers: [slow(anAnswer(client, during, more), ms)],
});
const slow = (answer: ReturnType<typeof anAnswer>, ms: number) => ({
  ...answer,
  endedMs: answer.startedMs + ms,
});

describe("a run in which every promise held", () => {
  for (const each of CELLS) {
    test(`${nameOf(each)} breaks no promise`, () => {
      const events = new Map([["request", "responded"]]);
      const window = [...aWindow(1_000, 104, LIMITS.requests, 5), ...aWindow(5_100, 108, LIMITS.requests, 9)];
      expect(broken(aRun(each, { reached: [reached()], events, answers: window }))).toEqual([]);
    });
  }
});

const cases: [promise: string, what: string, name: string, more: Partial<CellRun>][] = [
  ["admission", "a revoked key gets 200", "etcd/killed", answered("refused", { status: 200 })],
  [
    "admission",
    "a request with an unknown key reaches the service",
    "redis/cut",
    { reached: [reached({ client: "refused" })] },
  ],
  [
    "admission",
    "a caller reaches another owner's resource",
    "identity/killed",
    { reached: [reached({ client: "cached", owner: "another" })] },
  ],
  [
    "limits",
    "one request more than the limit passes",
    "audit/killed",
    { answers: aWindow(during, 114, LIMITS.requests + 1, 3) },
  ],
  [
    "limits",
    "two gateways count separately",
    "audit/killed",
    { answers: [...aWindow(during, 114, 10, 0), ...aWindow(during + 1, 115, 10, 0)] },
  ],
  [
    "limits",
    "a window refuses before it is full",
    "audit/killed",
    { answers: aWindow(4_500, 108, LIMITS.requests - 1, 4) },
  ],
  ["no-fallback", "a limited request passes", "redis/killed", answered("limited")],
  [
    "no-fallback",
    "a gateway refuses a limited request by its own count",
    "redis/frozen",
    answered("limited", { status: 429 }),
  ],
  [
    "uncounted",
    "a 503 takes longer than promised",
    "redis/black-holed",
    answeredAfter(LIMITS.uncountedMs + 1, "limited", { status: 503 }),
  ],
  ["without-redis", "a public route fails", "redis/cut", answered("public", { status: 502 })],
  ["without-etcd", "a route is gone", "etcd/killed", answered("cached", { status: 404 })],
  ["without-identity", "a cached key is refused", "identity/killed", answered("cached", { status: 503 })],
  ["without-postgres", "a cached token is refused", "postgres/frozen", answered("jwt", { status: 503 })],
  ["without-audit", "a limited request fails", "audit/cut", answered("limited", { status: 503 })],
  ["without-service", "publishing fails", "upstream/killed", answered("publish", { status: 503 })],
  [
    "without-gateway",
    "the other gateway fails",
    "gateway/killed",
    answered("public", { status: null, replica: 1 }),
  ],
  ["fails-closed", "an audited request passes", "audit/black-holed", answered("audited")],
  [
    "unrecorded",
    "a 503 takes longer than promised",
    "audit/frozen",
    answeredAfter(LIMITS.unrecordedMs + 1, "audited", { status: 503 }),
  ],
  ["events", "a request reaches the service without an event", "audit/killed", { reached: [reached()] }],
  [
    "outcomes",
    "the event of a request that was answered stays pending",
    "audit/killed",
    { reached: [reached()], events: new Map([["request", "pending"]]) },
  ],
  [
    "streams",
    "a delivery lacks an entry of the log",
    "postgres/killed",
    streamed({ problems: ["Entry 7 is missing."] }),
  ],
  ["streams", "a sealed entry is not delivered", "audit/frozen", streamed({ missing: ["3 entries"] })],
  [
    "streams",
    "entries are delivered twice although neither audit nor PostgreSQL failed",
    "redis/killed",
    streamed({ repeatsMs: [during] }),
  ],
  [
    "heals",
    "a request is refused six seconds after the part is back",
    "redis/killed",
    { answers: [anAnswer("limited", after, { status: 503 })] },
  ],
  ["heals", "no gateway serves the published change", "etcd/frozen", { served: [] }],
  [
    "hangs",
    "a request waits for a service that hangs",
    "upstream/frozen",
    answeredAfter(LIMITS.upstreamMs + 500, "public", { status: 502 }),
  ],
  [
    "slowness",
    "a request fails because a part is slow",
    "postgres/slowed",
    answered("audited", { status: 503 }),
  ],
  [
    "clocks",
    "a request fails because a clock was set back",
    "postgres/set-back",
    answered("unseen", { status: 401 }),
  ],
];

describe("a promise is broken when", () => {
  test.each(cases)("%s: %s (%s)", (promise, _, name, more) => {
    expect(broken(aRun(cell(name), more))).toContain(promise);
  });

  test("every promise has a case", () => {
    expect(new Set(cases.map(([promise]) => promise))).toEqual(new Set(PROMISES.map(({ name }) => name)));
  });
});

describe("no promise is broken by", () => {
  test("a time limit that was missed while processes waited for CPU time", () => {
    const late = answeredAfter(1_400, "limited", { status: 503, delayMs: 900 });
    expect(broken(aRun(cell("redis/killed"), late))).toEqual([]);
  });

  test("a failed request to the frozen gateway", () => {
    const lost = answeredAfter(LIMITS.patienceMs, "public", { status: null, replica: 0 });
    expect(broken(aRun(cell("gateway/frozen"), lost))).toEqual([]);
  });

  test("a second window of a Redis that lost the counts of the first", () => {
    const answers = [...aWindow(9_000, 113, LIMITS.requests, 3), ...aWindow(15_100, 114, LIMITS.requests, 3)];
    const run = aRun(cell("redis/killed"), { answers });
    expect(broken(run)).toEqual([]);
    expect(broken({ ...run, cell: cell("redis/frozen") })).toContain("limits");
  });

  test("outcomes that a killed gateway did not deliver", () => {
    const pending = { reached: [reached()], events: new Map([["request", "pending"]]) };
    expect(broken(aRun(cell("gateway/killed"), pending))).toEqual([]);
  });

  test("entries that are delivered twice after audit or PostgreSQL failed", () => {
    const seen = streamed({ repeatsMs: [during] });
    expect(broken(aRun(cell("audit/killed"), seen))).toEqual([]);
    expect(broken(aRun(cell("postgres/cut"), seen))).toEqual([]);
  });

  test("slow answers, if times are not judged", () => {
    const run = aRun(cell("redis/killed"), answeredAfter(3_000, "limited", { status: 503 }));
    expect(broken(run)).toEqual(["uncounted", "hangs"]);
    expect(judge(run, { timed: false }).filter((each) => each.broken.length > 0)).toEqual([]);
  });
});
