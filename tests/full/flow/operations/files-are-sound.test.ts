/** Tests of the files of alerts and runbooks. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { parse } from "yaml";
import { hasPrometheus } from "../../../support/telemetry/prometheus.ts";
import { alertRules, DEPLOY, OPERATIONS } from "./files.ts";

describe("alerts", async () => {
  const rules = await alertRules();
  const runbooks = await Bun.file(join(OPERATIONS, "runbooks.md")).text();

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
