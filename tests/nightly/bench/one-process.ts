import { join } from "node:path";
import { startIdentityProvider, startSampleService } from "@ostiary/demo";
import { publishCatalogs } from "../../../apps/platform/catalogs.ts";
import { productionSecrets } from "../../app/platform/bed.ts";
import { newSession } from "../../full/flow/guides/caller.ts";
import { startNewPlatform } from "../../full/flow/platform/bed.ts";
import { freePort } from "../../support/http/free-port.ts";
import type { RunningProcess } from "../../support/processes/start-process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { waitFor } from "../../support/time/wait-for.ts";
import type { Bench } from "./bench.ts";
import { Bed } from "./measure/bed.ts";
import { residentBytes } from "./measure/machine.ts";
import { inRounds, type MeasuredWay, valuesOf, type Way } from "./measure/rounds.ts";
import { spreadOf } from "./measure/statistics.ts";
import { table, whole } from "./measure/table.ts";
import { CONNECTIONS } from "./measure/wrk.ts";

const START_TIMEOUT_MS = 120_000;

/** Measures the figures of the guide one-process.md: requests, memory, and the pause of a restart. */
export const oneProcess: Bench = {
  summary: "all of Ostiary in one process with PostgreSQL: requests, memory, and the pause of a restart",
  async run(options) {
    await using bed = new Bed(["wrk"]);
    await using ends = new AsyncDisposableStack();
    const provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 });
    const sample = startSampleService({ host: "127.0.0.1", port: 0, intervalMs: 1_000 });
    ends.defer(() => provider.stop());
    ends.defer(() => sample.stop());
    const ports = { GATEWAY_PORT: String(freePort()), REGISTRY_PORT: String(freePort()) };
    const url = `http://127.0.0.1:${ports.GATEWAY_PORT}`;
    const env = {
      ...(await productionSecrets()),
      ...ports,
      DEMO: "false",
      DATABASE_URL: (await bed.database()).url,
      DATA_DIR: temporaryFolder("one-process"),
      AUTH_ISSUER: provider.issuer,
      AUTH_JWKS_URI: provider.jwks_uri,
      RATE_LIMIT_REQUESTS: "1000000000",
    };
    const start = async () => {
      const startedMs = performance.now();
      const one = await startNewPlatform(env);
      ends.defer(() => one.kill());
      await waitFor(() => isServed(url), { timeoutMs: START_TIMEOUT_MS, what: "a response of the gateway" });
      return { one, startMs: performance.now() - startedMs };
    };
    options.progress("starting the one process");
    const { one } = await start();
    const access = {
      registryUrl: `http://127.0.0.1:${ports.REGISTRY_PORT}`,
      adminToken: env.ADMIN_TOKEN,
      program: "bun cli",
    };
    await publishCatalogs(access, [{ service: "demo", url: sample.url }]);
    const session = await newSession(provider.issuer, url, "ada");
    const token = await (await fetch(`${provider.issuer}/token?subject=ada`)).text();
    const ways = await waysOf({ pid: one.pid, url, session, token });
    const plan = options.quick ? { rounds: 1, seconds: 2 } : { rounds: 5, seconds: 10 };
    const measured = await inRounds(ways, plan, options);
    const memory = residentBytes(one.pid);
    options.progress("restarting the one process");
    const restarts = await restarted(one, start, options.quick ? 1 : 5);
    const parts = [
      `${plan.rounds} rounds of ${plan.seconds} s with ${CONNECTIONS} clients; load, service and PostgreSQL share the machine`,
      table(["", "requests/s", "min..max"], measured.map(rowOf)),
      `memory after the load: ${whole(memory / 1e6)} MB`,
      `restart: start ${secondsOf(restarts.map(({ startMs }) => startMs))}, without a response ${secondsOf(restarts.map(({ pauseMs }) => pauseMs))}`,
    ];
    return { parts, data: { plan, measured, memory_bytes: memory, restarts } };
  },
};

async function isServed(url: string): Promise<boolean> {
  const response = await fetch(`${url}/demo/hello`, { signal: AbortSignal.timeout(1_000) }).catch(() => null);
  await response?.body?.cancel();
  return response !== null && response.status < 500;
}

interface Served {
  readonly pid: number;
  readonly url: string;
  readonly session: string;
  readonly token: string;
}

async function waysOf({ pid, url, session, token }: Served): Promise<Way[]> {
  const person = { Authorization: `Bearer ${token}` };
  const json = { "Content-Type": "application/json" };
  const body = JSON.stringify({ color: "red" });
  await waitFor(async () => {
    const response = await fetch(`${url}/demo/me/notes/1`, {
      method: "PUT",
      headers: { ...person, ...json },
      body,
    });
    return response.ok;
  });
  const bodies = join(temporaryFolder("bodies"), "bodies");
  await Bun.write(bodies, `${body}\n`);
  const way = (title: string, target: Omit<Way["target"], "pid" | "url">): Way => ({
    title,
    connections: CONNECTIONS,
    target: { pid, url, ...target },
  });
  return [
    way("public route", { paths: ["/demo/hello"], headers: {} }),
    way("limited user route", { paths: ["/demo/me/notes/1"], headers: person }),
    way("audited write", {
      method: "PUT",
      paths: ["/demo/things/1"],
      headers: { "X-API-Key": session, ...json },
      bodies,
    }),
  ];
}

function rowOf(way: MeasuredWay): string[] {
  const { median, min, max } = spreadOf(valuesOf(way, "requests_per_second"));
  return [way.title, whole(median), `${whole(min)}..${whole(max)}`];
}

interface Restart {
  readonly startMs: number;
  /** The time from the signal that stops the old process to the first response of the new one. */
  readonly pauseMs: number;
}

/** Restarts the process several times, as an upgrade does. */
async function restarted(
  first: RunningProcess,
  start: () => Promise<{ one: RunningProcess; startMs: number }>,
  times: number,
): Promise<Restart[]> {
  const restarts: Restart[] = [];
  let running = first;
  while (restarts.length < times) {
    const stoppedMs = performance.now();
    await running.stop();
    const { one, startMs } = await start();
    restarts.push({ startMs, pauseMs: performance.now() - stoppedMs });
    running = one;
  }
  return restarts;
}

function secondsOf(values: readonly number[]): string {
  const { median, min, max } = spreadOf(values.map((ms) => ms / 1_000));
  return `${median.toFixed(1)} s (${min.toFixed(1)} to ${max.toFixed(1)})`;
}
