import { describe, expect, test } from "bun:test";
import { CELLS, cellsNamed, nameOf, PARTS, QUICK_CELLS } from "../cells.ts";
import { findingsOf } from "../findings.ts";
import { pageWith } from "../page.ts";
import { brokenPromises, cellTable, progressLine, promiseTable, recoveryTable } from "../report.ts";
import { anAnswer, aRun, TIMES } from "./a-run.ts";

const redis = { parts: ["redis"], fault: "killed" } as const;
const during = TIMES.brokenMs + 100;

describe("the cells", () => {
  test("include every part and some pairs of parts, and their names are unique", () => {
    const names = CELLS.map(nameOf);
    expect(new Set(names).size).toBe(names.length);
    for (const part of PARTS) expect(names.filter((name) => name.includes(part))).not.toEqual([]);
    expect(names).toContain("postgres+etcd/black-holed");
    expect(QUICK_CELLS.map(({ parts }) => parts[0])).toEqual([
      ...PARTS.filter((part) => part !== "registries"),
    ]);
  });

  test.each([
    ["redis/killed", ["redis/killed"]],
    ["redis+identity", ["redis+identity/killed", "redis+identity/black-holed"]],
    ["red", []],
    ["", []],
    ["redis/", []],
  ])("are found by the name %p", (wanted, found) => {
    expect(cellsNamed(wanted).map(nameOf)).toEqual(found);
  });

  test("are found by a part or by a fault", () => {
    expect(cellsNamed("redis")).toHaveLength(6);
    expect(cellsNamed("audit")).toHaveLength(8);
    expect(cellsNamed("/set-back").map(nameOf)).toEqual(["postgres/set-back", "audit/set-back"]);
    expect(new Set(cellsNamed("/gone-silent").map(({ fault }) => fault))).toEqual(new Set(["gone-silent"]));
  });
});

describe("a row of the table", () => {
  const lost = {
    request_id: "r",
    client: "audited",
    owner: "organization",
    caller: "organization",
  } as const;

  test("shows the answers during the fault, the recovery time, and that nothing was lost", () => {
    const found = findingsOf(aRun(redis), { timed: true });
    expect(found.sights.limited).toEqual({ statuses: { 503: 4 }, p50_ms: 500, max_ms: 500 });
    expect(found.sights.public).toEqual({ statuses: { 200: 4 }, p50_ms: 5, max_ms: 5 });
    expect(found).toMatchObject({ cell: "redis/killed", well_again_ms: 900, well_again_last: "routes" });
    const table = cellTable([found]);
    expect(table).toContain("503 ×4; 500/500 ms");
    expect(table).toMatch(/\| redis\/killed \|.*\| 0\.9 s +\| nothing \|$/m);
    expect(promiseTable([found])).not.toContain("broken");
    expect(brokenPromises([found])).toEqual([]);
  });

  test("names what was lost, and the broken promises", () => {
    const answers = [
      anAnswer("refused", during, { status: 200 }),
      anAnswer("limited", TIMES.endedMs - 1, { status: null }),
    ];
    const found = findingsOf(aRun(redis, { reached: [lost], answers }), { timed: true });
    expect(cellTable([found])).toContain("1 events, 1 wrong admissions");
    expect(cellTable([found])).toContain("not (limited)");
    expect(promiseTable([found])).toContain("broken: redis/killed");
    expect(brokenPromises([found]).map((line) => line.split(":")[0])).toEqual([
      "redis/killed admission",
      "redis/killed without-redis",
      "redis/killed events",
      "redis/killed heals",
    ]);
    expect(progressLine(found)).toContain("BROKEN redis/killed events");
  });

  test("has its recovery time in the column of the fault", () => {
    const well = findingsOf(aRun(redis), { timed: true });
    const [head, , row] = recoveryTable([well])
      .split("\n")
      .map((line) => line.split("|").map((cell) => cell.trim()));
    expect(row?.[1]).toBe("redis");
    expect(row?.[head?.indexOf("killed") ?? 0]).toBe("0.9");
    expect(row?.[head?.indexOf("cut") ?? 0]).toBe("");
    const answers = [anAnswer("limited", TIMES.endedMs - 1, { status: null })];
    const ill = findingsOf(aRun(redis, { answers }), { timed: true });
    expect(recoveryTable([ill])).toMatch(/\| redis +\| not +\|/);
  });

  test("counts missing answers", () => {
    const none = anAnswer("public", during, { status: null });
    const found = findingsOf(aRun({ parts: ["upstream"], fault: "cut" }, { answers: [none] }), {
      timed: true,
    });
    expect(found.sights.public?.statuses).toEqual({ 503: 4, none: 1 });
  });
});

describe("the page of results", () => {
  const page = (results: string) =>
    `# Faults\n\n<!-- results: begin -->\n${results}\n<!-- results: end -->\n\nMore.\n`;

  test("gets new results between its markers, and keeps the rest", () => {
    expect(pageWith(page("old"), "new")).toBe(page("new"));
    expect(pageWith(page("new"), "new")).toBe(page("new"));
  });

  test.each(["", "# Without markers", "<!-- results: end --> <!-- results: begin -->"])(
    "is only the results if there are no markers: %p",
    (text) => expect(pageWith(text, "new")).toBe("new\n"),
  );
});
