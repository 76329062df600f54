/**
 * Tests that every query of the dashboards, alerts and the README returns data. The data comes from a run of
 * all services: metrics in Prometheus, the log and the audit log.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { operatorVariables } from "../../../app/audit/operator-bed.ts";
import { startReceiver, streamVariables } from "../../../app/audit/streams-bed.ts";
import { witnessVariables } from "../../../app/audit/witnesses-bed.ts";
import { waitFor } from "../../../support/index.ts";
import { type MixedRun, SERVICES, startMixedRun } from "../../../support/load/mixed-run.ts";
import { runToEnd } from "../../../support/processes/run-to-end.ts";
import { hasPrometheus, type Prometheus, startPrometheus } from "../../../support/telemetry/prometheus.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { alertRules, dashboards, readmeBlocks } from "./files.ts";

setDefaultTimeout(240_000);

const RANGE = "1m";

// The receiver refuses each call, because an alert needs the metrics of a stream without an accepted call.
const receiver = startReceiver();
receiver.respond = () => new Response(null, { status: 503 });
let run: MixedRun;
let prometheus: Prometheus | undefined;

beforeAll(async () => {
  run = await startMixedRun({
    ...streamVariables([receiver.port]),
    ...operatorVariables(receiver.url),
    ...witnessVariables(receiver.url),
  });
  if (!hasPrometheus) return;
  const targets = SERVICES.map((service) => [service, run.stack[service].internalUrl]);
  prometheus = await startPrometheus(Object.fromEntries(targets));
  await waitFor(async () => (await prometheus?.query(`sum(up) == ${SERVICES.length}`))?.length);
  await run.again();
  await waitFor(
    async () => (await prometheus?.query('increase(http_requests_total{status="429"}[1m]) > 0'))?.length,
  );
});
afterAll(async () => {
  await prometheus?.close();
  await run?.stop();
  await receiver.stop();
});

/**
 * Repeats a query until its result is a number. Repeats the traffic too: without traffic, a ratio of rates is
 * zero divided by zero.
 */
async function expectData(expr: string): Promise<void> {
  const asked = expr.replaceAll("$__rate_interval", RANGE);
  let tries = 0;
  await waitFor(
    async () => {
      tries += 1;
      if (tries % 50 === 0) await run.again();
      const samples = (await prometheus?.query(asked)) ?? [];
      return samples.some(({ value: [, number] }) => number !== "NaN");
    },
    { timeoutMs: 20_000, what: asked },
  );
}

describe.skipIf(!hasPrometheus)("data in Prometheus", async () => {
  const panels = [...(await dashboards())].flatMap(([file, { panels }]) =>
    panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [file, title, expr] as const)),
  );
  test.each(panels)("exists for the panel %s: %s", async (_file, _title, expr) => {
    await expectData(expr);
  });

  const rules = (await alertRules()).map(({ alert, expr }) => [alert, expr] as const);
  test.each(rules)("exists for the alert %s", async (_, expr) => {
    const compared = expr.replaceAll(/ (?:>|<) [\d.]+/g, "");
    expect(compared).not.toBe(expr);
    await expectData(compared);
  });

  const blocks = (await readmeBlocks()).filter(({ language }) => language === "promql");
  test.each(blocks.map(({ text }) => [text]))("exists for the README's query %s", async (text) => {
    await expectData(text);
  });

  test("includes trace ids of logged requests as exemplars of latencies", async () => {
    const ids = await waitFor(async () => {
      const found = await prometheus?.exemplars('http_request_duration_seconds_bucket{job="gateway"}');
      return found?.length ? found : null;
    });
    const lines = run.stack.gateway.logs().map(({ trace_id }) => trace_id);
    for (const id of ids) expect(lines).toContain(id);
  });

  test.each(SERVICES)("comes from metrics of %s that promtool accepts", async (service) => {
    const linted = Bun.spawnSync(["promtool", "check", "metrics"], {
      stdin: new TextEncoder().encode(await run.scrape(service)),
    });
    expect(`${linted.stdout}${linted.stderr}`).toBe("");
    expect(linted.exitCode).toBe(0);
  });
});

describe.skipIf(Bun.which("jq") === null)("the README's command for the log or the audit log", async () => {
  const blocks = (await readmeBlocks()).filter(({ language }) => language === "jq" || language === "audit");

  test.each(blocks.map(({ text }) => [text]))("finds data: %s", async (command) => {
    const folder = temporaryFolder("log");
    const { request_id = "" } = run.responses.get("403") ?? {};
    // The outcome of an event is written after the response, so the first run can find nothing.
    await waitFor(async () => (await ran(command, folder, request_id)).stdout !== "");
    const { stdout, stderr, exitCode } = await ran(command, folder, request_id);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    if (command.includes("REQUEST_ID") && command.includes("select")) {
      expect(JSON.parse(stdout.split("\n")[0] ?? "")).toMatchObject({
        route: "/demo/things/{thing_id}",
        status: 403,
      });
    }
    if (command.includes("required_labels"))
      expect(JSON.parse(stdout).required_labels).toEqual(["things:write"]);
    if (command.includes("KEY_PREFIX")) expect(stdout).toContain("PUT /demo/things/{thing_id} 200");
    if (command.includes("429")) expect(stdout).toContain(`${run.organization_id}`);
  });
});

async function ran(command: string, folder: string, request_id: string) {
  await Bun.write(
    join(folder, "ostiary.log"),
    run.stack
      .output()
      .filter((line) => line.startsWith("{"))
      .join("\n"),
  );
  const { PATH = "" } = process.env;
  const { stdout, ...rest } = await runToEnd(["sh", "-c", command], {
    cwd: folder,
    env: {
      PATH,
      REQUEST_ID: request_id,
      KEY_PREFIX: run.memberKey.slice(0, -39),
      KEY: run.session,
      GATEWAY: run.stack.gateway.url,
      REGISTRY_URL: run.stack.registry.url,
      ADMIN_TOKEN: run.stack.adminToken,
    },
  });
  return { stdout: stdout.trim(), ...rest };
}
