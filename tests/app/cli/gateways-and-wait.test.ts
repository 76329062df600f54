import { afterEach, describe, expect, spyOn, test } from "bun:test";
import { ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import { memoryRouteStore } from "@ostiary/lib/runtime/stores/route-store";
import {
  forwarding,
  type LoadingGateway,
  startLoadingGateway,
} from "../../support/gateway/loading-gateway.ts";
import { waitFor } from "../../support/index.ts";
import { manualClock } from "../../support/time/manual-clock.ts";
import { wordsOf } from "../../support/words.ts";
import { service, useRegistry } from "../registry/bed.ts";
import { runCli, useCli } from "./bed.ts";

const { registry, cli, document } = useCli();
let running: LoadingGateway[] = [];

async function join({ routeStore } = registry): Promise<LoadingGateway> {
  const gateway = await startLoadingGateway(routeStore);
  running.push(gateway);
  return gateway;
}

afterEach(async () => {
  await Promise.all(running.map((gateway) => gateway.stop()));
  running = [];
});

/** Writes a document with one service. */
const one = (name: string) => document(`${name}.json`, { [name]: service(`/${name}`) });

describe("gateways", () => {
  test("says that no gateway runs", async () => {
    expect(await cli(["gateways"])).toEqual({
      exitCode: 0,
      stdout: "No gateway is running.\n",
      stderr: "",
    });
    expect(JSON.parse((await cli(["gateways", "--json"])).stdout)).toEqual({ gateways: [] });
  });

  test("lists what each gateway serves, and which services it skips and why", async () => {
    await registry.call("POST", "/apply?wait_ms=10000", { services: { listed: service("/listed") } });
    const { id } = await join();
    await registry.routeStore.put(`${ROUTES_PREFIX}broken`, "{");
    const { stdout } = await waitFor(async () => {
      const run = await cli(["gateways"]);
      return run.stdout.includes("skips") && run;
    });
    const [head, row, skipped] = stdout.trimEnd().split("\n");
    expect(head?.split(/ {2,}/)).toEqual(wordsOf("GATEWAY CURRENT SERVICES ROUTES SKIPPED STARTED LOADED"));
    const count = String(Object.keys((await registry.call("GET", "/services")).body.services).length);
    expect(row?.split(/ {2,}/).slice(0, 5)).toEqual([id, "no", count, count, "1"]);
    expect(skipped).toBe(`${id} skips broken: its value is not JSON, or is nested too deeply`);
    await registry.routeStore.delete(`${ROUTES_PREFIX}broken`);
  });
});

describe("--wait", () => {
  test("says after a write or a delete how many gateways have the change", async () => {
    await Promise.all([join(), join()]);
    const path = await one("waited");
    for (const parameters of [
      // --wait without a number does not consume the file name after it.
      ["apply", "--wait", path],
      ["apply", path, "--wait=20000"],
      ["restore", "waited", "1", "--wait"],
      ["delete", "waited", "--yes", "--wait"],
    ]) {
      const run = await cli(parameters);
      expect(run).toMatchObject({ exitCode: 0, stderr: "" });
      expect(run.stdout).toMatch(/\nEvery gateway has the change: 2 of 2 gateways, after \d+\.\d s\.\n$/);
    }
    const json = await cli(["apply", "--wait", path, "--json"]);
    expect(JSON.parse(json.stdout).propagation).toMatchObject({ gateways: 2, reached: 2, projected: true });
  });

  test.each(["--wait=x", "--wait=30001", "--wait=1.5"])("%s is wrong usage", async (option) => {
    const run = await cli(["apply", await one("usage"), option]);
    expect(run).toMatchObject({ exitCode: 2, stdout: "" });
    expect((await registry.call("GET", "/services/usage")).status).toBe(404);
  });
});

describe("--wait, when its time is over", () => {
  const clock = manualClock();
  const routeStore = forwarding(memoryRouteStore());
  const summarize = spyOn(routeStore, "summarize");
  const timed = useRegistry({ clock, routeStore });

  const isWaiting = (ms: number) =>
    waitFor(() => clock.waiting().includes(ms), { what: `a wait of ${ms} ms` });

  /** Runs a command that waits for 1 s, and ends its time once `free` has loaded the change. */
  async function timedOut(free: LoadingGateway, ...parameters: string[]) {
    const run = runCli(timed.url, [...parameters, "--wait=1000"]);
    await isWaiting(1_000);
    await waitFor(
      async () => {
        const { gateways } = (await timed.call("GET", "/gateways")).body;
        return gateways.find(({ instance }: { instance: string }) => instance === free.id).current;
      },
      { what: "the gateway to load the change" },
    );
    // The registry may be polling the gateways now, so its next poll must be over too.
    const before = summarize.mock.calls.length;
    await waitFor(() => summarize.mock.calls.length >= before + 3);
    clock.advance(1_000);
    return run;
  }

  test("exits with 1, and says how many gateways have the change", async () => {
    const [held, free] = await Promise.all([join(timed), join(timed)]);
    held.holdUp();
    const path = await one("late");
    const run = await timedOut(free, "apply", path);
    expect(run.exitCode).toBe(1);
    expect(run.stdout).toContain("upserted");
    expect(run.stderr).toBe(
      `The write is recorded, but after 1.0 s only 1 of 2 gateways have the change: bun cli gateways lists all gateways.\n`,
    );
    const json = await timedOut(free, "apply", path, "--json");
    expect(json.exitCode).toBe(1);
    expect(JSON.parse(json.stdout).propagation).toMatchObject({ gateways: 2, reached: 1 });
    // The held gateway never loaded the service `late`, so it counts as current again after the delete.
    expect((await runCli(timed.url, ["delete", "late", "--yes", "--wait"])).exitCode).toBe(0);
  });

  test("has shown its progress on a terminal, and removes it", async () => {
    const held = await join(timed);
    held.holdUp();
    const path = await one("shown");
    let shown = "";
    const run = runCli(timed.url, ["apply", path, "--wait=1500"], {
      terminal: {
        progress: true,
        writeError: (text) => {
          shown += text;
        },
      },
    });
    await isWaiting(1_500);
    await waitFor(() => / s of 1\.5 s/.test(shown), { what: "the progress" });
    clock.advance(1_500);
    await run;
    expect(shown).toContain("\r\u001b[KWaiting until every gateway has the change: ");
    expect(shown).toMatch(/: \d+\.\d s of 1\.5 s/);
    expect(shown.split("\u001b[K").at(-1)).not.toContain("Waiting");
  });
});
