import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parse } from "yaml";
import { ROOT } from "../../../support/root.ts";

/** The folder of the prose for operators. */
export const OPERATIONS = join(ROOT, ".github/operations");

/** The folder of the files of Prometheus and Grafana. */
export const DEPLOY = join(ROOT, "apps/platform/deploy");

const Dashboard = Type.Object({
  uid: Type.String({ pattern: "^[a-z-]{1,40}$" }),
  title: Type.String({ minLength: 1 }),
  panels: Type.Array(
    Type.Object({
      type: Type.Union([Type.Literal("timeseries"), Type.Literal("stat")]),
      title: Type.String({ minLength: 1 }),
      datasource: Type.Object({ type: Type.Literal("prometheus"), uid: Type.String() }),
      targets: Type.Array(Type.Object({ expr: Type.String({ minLength: 1 }) }), { minItems: 1 }),
    }),
    { minItems: 1 },
  ),
});
type Dashboard = Static<typeof Dashboard>;

/** Returns the dashboards by file name. Throws if a dashboard does not match the schema {@link Dashboard}. */
export async function dashboards(): Promise<Map<string, Dashboard>> {
  const folder = join(DEPLOY, "grafana/dashboards");
  const files = readdirSync(folder).map(async (name) => {
    const dashboard = Value.Parse(Dashboard, await Bun.file(join(folder, name)).json());
    return [name, dashboard] as const;
  });
  return new Map(await Promise.all(files));
}

const Alerts = Type.Object({
  groups: Type.Array(
    Type.Object({
      rules: Type.Array(
        Type.Object({
          alert: Type.String(),
          expr: Type.String(),
          labels: Type.Object({ severity: Type.Union([Type.Literal("page"), Type.Literal("ticket")]) }),
          annotations: Type.Object({ summary: Type.String(), runbook_url: Type.String() }),
        }),
      ),
    }),
  ),
});

export async function alertRules() {
  const text = await Bun.file(join(DEPLOY, "prometheus/alerts.yaml")).text();
  return Value.Parse(Alerts, parse(text)).groups.flatMap(({ rules }) => rules);
}

/** Returns the code blocks of the README. */
export async function readmeBlocks(): Promise<{ language: string; text: string }[]> {
  const text = await Bun.file(join(OPERATIONS, "README.md")).text();
  return Array.from(text.matchAll(/^```(\w+)\n([\s\S]*?)\n```$/gm), ([, language = "", block = ""]) => ({
    language,
    text: block,
  }));
}
