import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { freePort } from "../http/free-port.ts";
import { leash } from "../processes/clean-up-after-kill.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { waitFor } from "../time/wait-for.ts";

/** Whether Prometheus and promtool are installed. Tests that need the two programs are skipped otherwise. */
export const hasPrometheus = Bun.which("prometheus") !== null && Bun.which("promtool") !== null;

const Sample = Type.Object({
  metric: Type.Record(Type.String(), Type.String()),
  value: Type.Tuple([Type.Number(), Type.String()]),
});
const QueryResponse = Type.Object({ data: Type.Object({ result: Type.Array(Sample) }) });
const Exemplars = Type.Object({
  data: Type.Array(
    Type.Object({
      exemplars: Type.Array(Type.Object({ labels: Type.Record(Type.String(), Type.String()) })),
    }),
  ),
});

export interface Prometheus {
  /**
   * Returns the result of an instant query at the present time. Throws Prometheus's message for an invalid
   * query.
   */
  query(expr: string): Promise<Static<typeof Sample>[]>;
  /** Returns the trace ids in the exemplars of the series that the query selects. */
  exemplars(expr: string): Promise<string[]>;
  close(): Promise<void>;
}

/**
 * Starts a Prometheus that scrapes every second. `targets` contains the URL of each job, by the job's name.
 */
export async function startPrometheus(targets: Record<string, string>): Promise<Prometheus> {
  const folder = temporaryFolder("prometheus");
  const port = freePort();
  const scrape_configs = Object.entries(targets).map(([job_name, url]) => ({
    job_name,
    static_configs: [{ targets: [new URL(url).host] }],
  }));
  // The configuration file is YAML, which includes JSON
  const config = { global: { scrape_interval: "1s", scrape_timeout: "1s" }, scrape_configs };
  await Bun.write(join(folder, "prometheus.yml"), JSON.stringify(config));
  const child = Bun.spawn(
    [
      "prometheus",
      `--config.file=${join(folder, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--enable-feature=exemplar-storage",
      "--log.level=error",
    ],
    { stdin: "ignore", stdout: "ignore", stderr: "ignore" },
  );
  const held = leash();
  held.process(child.pid);
  held.directory(folder);
  const url = `http://127.0.0.1:${port}`;
  await waitFor(async () => (await fetch(`${url}/-/ready`)).ok, { timeoutMs: 60_000, what: "Prometheus" });
  const ask = async (path: string, parameters: Record<string, string>): Promise<unknown> => {
    const response = await fetch(`${url}/api/v1/${path}`, {
      method: "POST",
      body: new URLSearchParams(parameters),
    });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
  return {
    query: async (query) => Value.Parse(QueryResponse, await ask("query", { query })).data.result,
    async exemplars(query) {
      const nowS = Date.now() / 1000;
      const range = { start: String(nowS - 3_600), end: String(nowS + 60) };
      const { data } = Value.Parse(Exemplars, await ask("query_exemplars", { query, ...range }));
      return data.flatMap(({ exemplars }) => exemplars.flatMap(({ labels }) => labels.trace_id ?? []));
    },
    async close() {
      child.kill("SIGKILL");
      await child.exited;
      held.release(child.pid);
    },
  };
}
