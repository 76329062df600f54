/**
 * Tests of the files of dashboards, alerts and runbooks. Grafana publishes no schema, so files.ts has one.
 */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT } from "../../../support/root.ts";
import { hasPrometheus } from "../../../support/telemetry/prometheus.ts";
import { alertRules, DEPLOY, dashboards, OPERATIONS } from "./files.ts";

describe("dashboards", async () => {
  const all = [...(await dashboards())];

  test("have their file names as uids", () => {
    expect(all.map(([name]) => name).toSorted()).toEqual([
      "ostiary-gateway.json",
      "ostiary-identity-and-audit.json",
      "ostiary-overview.json",
      "ostiary-registry-and-routes.json",
    ]);
    for (const [name, { uid }] of all) expect(`${uid}.json`).toBe(name);
  });

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

  test("use the provisioned data source", async () => {
    const provisioned = parse(
      await Bun.file(join(DEPLOY, "grafana/provisioning/datasources/datasources.yaml")).text(),
    );
    const uids = provisioned.datasources.map(({ uid }: { uid: string }) => uid);
    for (const [, { panels }] of all)
      for (const { datasource } of panels) expect(uids).toContain(datasource.uid);
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

test("compose.yaml has the profile observability, and its services can send traces", async () => {
  const { services } = parse(await Bun.file(join(ROOT, "compose.yaml")).text(), { merge: true });
  for (const name of ["prometheus", "jaeger", "grafana"]) {
    expect(services[name].profiles).toEqual(["observability"]);
  }
  for (const name of ["gateway-1", "gateway-2", "registry", "identity", "audit"]) {
    expect(services[name].profiles).toBeUndefined();
    expect(services[name].environment.OTEL_EXPORTER_OTLP_ENDPOINT).toContain(
      "OTEL_EXPORTER_OTLP_ENDPOINT:-}",
    );
  }
});
