import { afterEach, describe, expect, test } from "bun:test";
import { INSTANCES_PREFIX, ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import { service } from "../../app/registry/harness.ts";
import { waitFor } from "../../support/index.ts";
import { type LoadingGateway, startLoadingGateway } from "../../support/loading-gateway.ts";
import { NAME, runCliOnTerminal, useCli } from "./bed.ts";

const { registry, cli, file } = useCli();
let running: LoadingGateway[] = [];

async function join(): Promise<LoadingGateway> {
  const gateway = await startLoadingGateway(registry.routeStore);
  running.push(gateway);
  return gateway;
}

afterEach(async () => {
  await Promise.all(running.map((gateway) => gateway.stop()));
  running = [];
});

const document = (name: string) => JSON.stringify({ services: { [name]: service(`/${name}`) } });

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
      return run.stdout.includes("leaves out") && run;
    });
    const [head, row, skipped] = stdout.trimEnd().split("\n");
    expect(head?.split(/ {2,}/)).toEqual([
      "GATEWAY",
      "CURRENT",
      "SERVICES",
      "ROUTES",
      "SKIPPED",
      "STARTED",
      "LOADED",
    ]);
    const count = String(Object.keys((await registry.call("GET", "/services")).body.services).length);
    expect(row?.split(/ {2,}/).slice(0, 5)).toEqual([id, "no", count, count, "1"]);
    expect(skipped).toBe(`${id} leaves out broken: its value is not JSON, or is nested too deeply`);
    await registry.routeStore.delete(`${ROUTES_PREFIX}broken`);
  });

  test("removes control characters from a gateway's report", async () => {
    const gateway = await join();
    const entry = await registry.routeStore.get(INSTANCES_PREFIX + gateway.id);
    const skipped = [{ service: "\u001b[2J", reason: "\u0007" }];
    const hostile = { ...JSON.parse(entry?.value ?? ""), instance: "hostile", skipped };
    await registry.routeStore.put(`${INSTANCES_PREFIX}hostile`, JSON.stringify(hostile));
    const { stdout } = await cli(["gateways"]);
    expect(stdout).toContain("hostile leaves out");
    expect(stdout).not.toMatch(/[^\P{Cc}\n]/u);
    await registry.routeStore.delete(`${INSTANCES_PREFIX}hostile`);
  });

  test("replaces line breaks in a gateway's report", async () => {
    const gateway = await join();
    const entry = await registry.routeStore.get(INSTANCES_PREFIX + gateway.id);
    const skipped = [{ service: "a", reason: "b\nNo gateway is running." }];
    const rogue = { ...JSON.parse(entry?.value ?? ""), instance: "rogue", skipped };
    await registry.routeStore.put(`${INSTANCES_PREFIX}rogue`, JSON.stringify(rogue));
    const { stdout } = await cli(["gateways"]);
    expect(stdout.trimEnd().split("\n").at(-1)).toBe("rogue leaves out a: b\ufffdNo gateway is running.");
    await registry.routeStore.delete(`${INSTANCES_PREFIX}rogue`);
  });

  test("lists more gateways than fit on one page", async () => {
    const gateway = await join();
    const entry = await registry.routeStore.get(INSTANCES_PREFIX + gateway.id);
    const told = JSON.parse(entry?.value ?? "");
    const ids = Array.from({ length: 130 }, (_, number) => `many-${number}`);
    for (const id of ids) {
      await registry.routeStore.put(INSTANCES_PREFIX + id, JSON.stringify({ ...told, instance: id }));
    }
    const { gateways } = JSON.parse((await cli(["gateways", "--json"])).stdout);
    expect(gateways.map(({ instance }: { instance: string }) => instance)).toEqual(
      [...ids, gateway.id].sort(),
    );
    for (const id of ids) await registry.routeStore.delete(INSTANCES_PREFIX + id);
  });
});

describe("--wait", () => {
  test("says after a write how many gateways serve it, and after delete that none does", async () => {
    await Promise.all([join(), join()]);
    const path = await file("waited.json", document("waited"));
    const everyGateway = /\nEvery gateway serves the change: 2 of 2 gateways, after \d+\.\d s\.\n$/;
    const noGateway = /\nNo gateway serves the service any more: 2 of 2 gateways, after \d+\.\d s\.\n$/;
    for (const [parameters, said] of [
      // --wait without a number does not consume the file name after it.
      [["apply", "--wait", path], everyGateway],
      [["apply", path, "--wait=20000"], everyGateway],
      [["restore", "waited", "1", "--wait"], everyGateway],
      [["delete", "waited", "--yes", "--wait"], noGateway],
    ] as const) {
      const run = await cli([...parameters]);
      expect(run).toMatchObject({ exitCode: 0, stderr: "" });
      expect(run.stdout).toMatch(said);
    }
    const json = await cli(["apply", "--wait", path, "--json"]);
    expect(JSON.parse(json.stdout).propagation).toMatchObject({ gateways: 2, reached: 2, projected: true });
  });

  test("says that no gateway runs", async () => {
    const run = await cli(["apply", "--wait", await file("nobody.json", document("nobody"))]);
    expect(run.exitCode).toBe(0);
    expect(run.stdout).toEndWith("No gateway is running: the next gateway to start will serve the change.\n");
  });

  test("exits with 1 when its time is over, and says how many gateways serve the change", async () => {
    const [held] = await Promise.all([join(), join()]);
    held.holdUp();
    const path = await file("late.json", document("late"));
    const run = await cli(["apply", path, "--wait=300"]);
    expect(run.exitCode).toBe(1);
    expect(run.stdout).toContain("upserted");
    expect(run.stderr.replace(/0\.\d s/, "0.X s")).toBe(
      `The write is recorded, but after 0.X s only 1 of 2 gateways serve the change: ${NAME} gateways lists all gateways.\n`,
    );
    const json = await cli(["apply", path, "--wait=100", "--json"]);
    expect(json.exitCode).toBe(1);
    expect(JSON.parse(json.stdout).propagation).toMatchObject({ gateways: 2, reached: 1 });
    await cli(["apply", await file("kept.json", document("kept"))]);
    const deleted = await cli(["delete", "kept", "--yes", "--wait=1000"]);
    expect(deleted.stderr.replace(/\d\.\d s/, "X s")).toBe(
      `The write is recorded, but after X s only 1 of 2 gateways have stopped serving the service: ${NAME} gateways lists all gateways.\n`,
    );
    // The held gateway never loaded the service `late`, so it counts as current again after the delete.
    expect((await cli(["delete", "late", "--yes", "--wait"])).exitCode).toBe(0);
  });

  test("shows its progress on a terminal, and removes it at the end", async () => {
    const held = await join();
    held.holdUp();
    const path = await file("shown.json", document("shown"));
    const shown = await runCliOnTerminal(registry.url, ["apply", path, "--wait=1500"]);
    expect(shown).toContain("\r\u001b[KWaiting until every gateway serves the change: ");
    expect(shown).toMatch(/: \d\.\d s of 1\.5 s/);
    expect(shown.split("\u001b[K").at(-1)).not.toContain("Waiting");
  });

  test.each(["--wait=", "--wait=x", "--wait=-1", "--wait=30001", "--wait=1.5"])(
    "%s is wrong usage",
    async (option) => {
      const run = await cli(["apply", await file("usage.json", document("usage")), option]);
      expect(run).toMatchObject({ exitCode: 2, stdout: "" });
      expect((await registry.call("GET", "/services/usage")).status).toBe(404);
    },
  );

  test("exits with 2 together with --dry-run", async () => {
    const run = await cli(["apply", await file("dry.json", document("dry")), "--wait", "--dry-run"]);
    expect(run).toMatchObject({ exitCode: 2, stdout: "" });
  });
});
