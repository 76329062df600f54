/**
 * Draws every dashboard as a picture from the data of a Prometheus server, without Grafana:
 *
 *   bun tests/full/flow/operations/pictures/main.ts --prometheus http://127.0.0.1:9090 --minutes 15 --out
 * DIRECTORY
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Dashboard, dashboards } from "../files.ts";
import { picture, type Series } from "./picture.ts";

const STEPS = 240;
const RATE_INTERVAL = "1m";

const Matrix = Type.Object({
  data: Type.Object({
    result: Type.Array(
      Type.Object({
        metric: Type.Record(Type.String(), Type.String()),
        values: Type.Array(Type.Tuple([Type.Number(), Type.String()])),
      }),
    ),
  }),
});

const { values } = parseArgs({
  options: {
    prometheus: { type: "string", default: "http://127.0.0.1:9090" },
    minutes: { type: "string", default: "15" },
    out: { type: "string", default: "." },
  },
});
await mkdir(values.out, { recursive: true });
for (const [name, dashboard] of await dashboards()) {
  const drawn = new Map<number, Series[]>();
  for (const panel of dashboard.panels) drawn.set(panel.id, await seriesOf(panel));
  const file = join(values.out, name.replace(".json", ".svg"));
  await Bun.write(file, picture(dashboard, drawn));
  const empty = dashboard.panels.filter(({ id }) => drawn.get(id)?.length === 0).map(({ title }) => title);
  process.stdout.write(`${file}${empty.length > 0 ? `: no data in ${empty.join(", ")}` : ""}\n`);
}

async function seriesOf({ targets }: Dashboard["panels"][number]): Promise<Series[]> {
  const found = await Promise.all(
    targets.map(async ({ expr, legendFormat }) => {
      const { data } = Value.Parse(Matrix, await asked(expr.replaceAll("$__rate_interval", RATE_INTERVAL)));
      return data.result.map(({ metric, values: points }) => ({
        name: legendFormat.replace(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? ""),
        points: points.map(([time, value]): [number, number] => [time, Number(value)]),
      }));
    }),
  );
  return found.flat();
}

async function asked(query: string): Promise<unknown> {
  const end = Date.now() / 1_000;
  const start = end - Number(values.minutes) * 60;
  const step = Math.max((end - start) / STEPS, 1);
  const body = new URLSearchParams({ query, start: String(start), end: String(end), step: String(step) });
  const answer = await fetch(`${values.prometheus}/api/v1/query_range`, { method: "POST", body });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}
