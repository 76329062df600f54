/**
 * Tests of the files of dashboards, alerts and runbooks. Grafana publishes no schema, so files.ts has one.
 */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { parse } from "yaml";
import { hasPrometheus } from "../../../support/telemetry/prometheus.ts";
import { alertRules, DEPLOY, dashboards, OPERATIONS } from "./files.ts";

describe("dashboards", async () => {
  const all = [...(await dashboards())];

  test.each(all)("%s has panels with unique ids and titles that do not overlap", (_, { panels }) => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    const taken = new Set<string>();
    for (const { gridPos, targets } of panels) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(taken.has(`${x},${y}`)).toBe(false);
          taken.add(`${x},${y}`);
        }
      }
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
    }
  });
});

describe("alerts", async () => {
  const rules = await alertRules();
  const runbooks = await Bun.file(join(OPERATIONS, "runbooks.md")).text();

  test.each(rules.map((rule) => [rule.alert, rule] as const))(
    "%s has a runbook with the parts Means, Look and Do",
    (alert, rule) => {
      expect(rule.annotations.runbook_url).toBe(`.github/operations/runbooks.md#${alert.toLowerCase()}`);
      const section = runbooks.split("\n## ").find((each) => each.startsWith(`${alert}\n`));
      for (const part of ["**Means**: ", "**Look**: ", "**Do**: "]) expect(section).toContain(part);
    },
  );

  test("have exactly one runbook and one promtool test each", async () => {
    const names = rules.map(({ alert }) => alert);
    const headed = Array.from(runbooks.matchAll(/^## (\w+)$/gm), ([, name]) => name);
    expect(headed).toEqual(names);
    const tested = parse(await Bun.file(join(DEPLOY, "prometheus/alerts.test.yaml")).text());
    expect(tested.tests.map(({ name }: { name: string }) => name)).toEqual(names);
  });

  test.skipIf(!hasPrometheus)("pass their promtool tests", () => {
    const cwd = join(DEPLOY, "prometheus");
    for (const command of [
      ["promtool", "test", "rules", "alerts.test.yaml"],
      ["promtool", "check", "config", "prometheus.yml"],
      ["promtool", "check", "config", "quick-start.yml"],
    ]) {
      const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd });
      expect(`${exitCode === 0 ? "" : stdout}${exitCode === 0 ? "" : stderr}`).toBe("");
    }
  });
});
