/**
 * Tests that no two listeners share a port, in one process or in several, except gateways with REUSE_PORT
 * (OP-4).
 */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadPlatform } from "@ostiary/platform/config";
import { freePort } from "../../../support/http/free-port.ts";
import { runToEnd } from "../../../support/processes/run-to-end.ts";
import { ProcessEnded, type RunningProcess, startProcess } from "../../../support/processes/start-process.ts";
import { rejection } from "../../../support/rejection.ts";
import { ROOT } from "../../../support/root.ts";
import { freshDatabase, freshRouteStoreUrl, services } from "../../../support/stores/services.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { waitFor } from "../../../support/time/wait-for.ts";

setDefaultTimeout(120_000);

const { etcd } = services();
const SERVICES = ["gateway", "registry", "identity", "audit"];
const ipv6 = hasIpv6();
const started: RunningProcess[] = [];

afterAll(async () => {
  await Promise.all(started.map((each) => each.kill()));
});

async function start(app: string, env: Record<string, string>): Promise<RunningProcess> {
  const process = await startProcess(`apps/${app}/main.ts`, env);
  started.push(process);
  return process;
}

/** Expects that a start is refused with exit code 78, and returns the lines below the headline on standard error. */
async function refusal(app: string, env: Record<string, string>): Promise<string[]> {
  const failure = await rejection(start(app, env));
  if (!(failure instanceof ProcessEnded)) throw failure;
  const [headline, ...lines] = failure.stderr;
  expect([failure.exitCode, headline]).toEqual([78, "The configuration is not valid:"]);
  return lines.map((line) => line.trim());
}

function inUse(variable: string, port: string, host = "127.0.0.1", user = "another program"): string {
  return `${variable} is ${port}, which is in use on ${host} by ${user}: stop that program, or set another port.`;
}

/** Returns the ports of a service as environment variables. */
function portsOf({ url, internalUrl }: RunningProcess): { PORT: string; INTERNAL_PORT: string } {
  return { PORT: new URL(url).port, INTERNAL_PORT: new URL(internalUrl).port };
}

async function variables(app: string): Promise<Record<string, string>> {
  switch (app) {
    case "gateway":
      return {
        ROUTE_STORE_URL: await freshRouteStoreUrl(),
        COUNTER_STORE_URL: "memory://",
        CREDENTIAL_VALIDATE_URL: "http://127.0.0.1:9/validate",
        AUDIT_ENABLED: "false",
      };
    case "demo":
      return { IDENTITY_PROVIDER_PORT: "0" };
    default: {
      const registry = app === "registry" && { ROUTE_STORE_URL: "http://127.0.0.1:9", ADMIN_TOKEN: "token" };
      return { DATABASE_URL: await freshDatabase(), ...registry };
    }
  }
}

async function platformVariables(): Promise<Record<string, string>> {
  return {
    DATA_DIR: temporaryFolder("ports"),
    LOG_FILE: "-",
    DATABASE_URL: await freshDatabase(),
    ...everyPort("0"),
  };
}

const PLATFORM_PORTS = [
  ...["GATEWAY", "REGISTRY", "IDENTITY", "AUDIT", "PORTAL"].flatMap((part) => [
    `${part}_PORT`,
    `${part}_INTERNAL_PORT`,
  ]),
  "DEMO_PORT",
  "DEMO_IDENTITY_PROVIDER_PORT",
];

function everyPort(port: string): Record<string, string> {
  return Object.fromEntries(PLATFORM_PORTS.map((variable) => [variable, port]));
}

/**
 * Returns the ten ports of a running platform's services as environment variables, from the platform's log.
 */
async function servicePorts(platform: RunningProcess): Promise<Record<string, string>> {
  const listening = () => platform.logs().filter(({ message }) => message === "listening");
  await waitFor(() => listening().length === 5);
  const ports: Record<string, string> = {};
  for (const { service, port, internal_port } of listening()) {
    ports[`${String(service).toUpperCase()}_PORT`] = String(port);
    ports[`${String(service).toUpperCase()}_INTERNAL_PORT`] = String(internal_port);
  }
  return ports;
}

// OP-4
describe("a second process on the same ports is refused", () => {
  test("by the platform, which names each of its twelve ports", async () => {
    const demo = { DEMO_PORT: String(freePort()), DEMO_IDENTITY_PROVIDER_PORT: String(freePort()) };
    const first = await start("platform", { ...(await platformVariables()), ...demo });
    const ports: Record<string, string> = { ...demo, ...(await servicePorts(first)) };
    const lines = await refusal("platform", { ...(await platformVariables()), ...ports });
    expect(lines).toEqual(PLATFORM_PORTS.map((variable) => inUse(variable, ports[variable] ?? "")));
    expect((await fetch(`http://127.0.0.1:${ports.GATEWAY_PORT}/nowhere`)).status).toBe(404);
  });

  const apps = etcd.own ? SERVICES : SERVICES.slice(1);
  test.each(apps)("by %s, which names both of its ports, and the first keeps running", async (app) => {
    const env = await variables(app);
    const first = await start(app, env);
    const ports = portsOf(first);
    const lines = await refusal(app, { ...env, ...ports });
    expect(lines).toEqual([inUse("PORT", ports.PORT), inUse("INTERNAL_PORT", ports.INTERNAL_PORT)]);
    expect((await fetch(`${first.internalUrl}/health/live`)).status).toBe(200);
  });

  test.each(["production", "development"])("by the demo with NODE_ENV=%s", async (NODE_ENV) => {
    const first = await start("demo", { NODE_ENV, ...(await variables("demo")) });
    const { PORT, INTERNAL_PORT: IDENTITY_PROVIDER_PORT } = portsOf(first);
    const lines = await refusal("demo", { NODE_ENV, PORT, IDENTITY_PROVIDER_PORT });
    expect(lines).toEqual([inUse("PORT", PORT), inUse("IDENTITY_PROVIDER_PORT", IDENTITY_PROVIDER_PORT)]);
  });

  test("when four start at the same moment: one starts, and the others name the port", async () => {
    for (let round = 0; round < 3; round += 1) {
      const PORT = String(freePort());
      const outcomes = await Promise.all(
        [1, 2, 3, 4].map(() =>
          start("demo", { IDENTITY_PROVIDER_PORT: "0", PORT }).catch((error: unknown) => error),
        ),
      );
      const refused = outcomes.flatMap((each) => (each instanceof ProcessEnded ? [each] : []));
      expect(refused.map(({ exitCode, stderr }) => [exitCode, stderr.at(-1)?.trim()])).toEqual(
        Array.from({ length: 3 }, () => [78, inUse("PORT", PORT)]),
      );
    }
  });
});

// OP-4
describe("two listeners of one process", () => {
  test.each(SERVICES)("%s refuses the same value of PORT and INTERNAL_PORT", async (app) => {
    const port = String(freePort());
    const lines = await refusal(app, { PORT: port, INTERNAL_PORT: port });
    expect(lines).toContain(`INTERNAL_PORT is ${port}, the same port as PORT: set two different ports.`);
  });

  test("the platform refuses any two equal ports", async () => {
    const port = String(freePort());
    for (const [index, one] of PLATFORM_PORTS.entries()) {
      for (const other of PLATFORM_PORTS.slice(index + 1)) {
        const load = () => loadPlatform({ ...everyPort("0"), [one]: port, [other]: port });
        expect(load).toThrow(`${other} is ${port}, the same port as ${one}: set two different ports.`);
      }
    }
  });

  test("the platform ignores the demo's ports without the demo", async () => {
    const port = String(freePort());
    const env = { ...everyPort("0"), DEMO: "false", DEMO_PORT: port, DEMO_IDENTITY_PROVIDER_PORT: port };
    expect(loadPlatform(env)).toMatchObject({ DEMO: false });
  });
});

// OP-2, OP-4
describe("HOST", () => {
  const everywhere: [held: string, wanted: string][] = [
    ["0.0.0.0", "127.0.0.1"],
    ["127.0.0.1", "0.0.0.0"],
    ["127.0.0.1", "localhost"],
  ];
  if (ipv6) everywhere.push(["0.0.0.0", "::"], ["::", "127.0.0.1"]);
  test.each(everywhere)("a port in use on %s is refused for HOST=%s", async (held, wanted) => {
    const holder = Bun.listen({ hostname: held, port: 0, socket: { data: () => {} } });
    try {
      const env = { DATABASE_URL: "pglite://memory", HOST: wanted, PORT: String(holder.port) };
      const lines = await refusal("audit", env);
      expect(lines).toEqual([inUse("PORT", String(holder.port), wanted)]);
    } finally {
      holder.stop(true);
    }
  });

  test("an address that this machine does not have is refused once, not for each port", async () => {
    const lines = await refusal("audit", { DATABASE_URL: "pglite://memory", HOST: "203.0.113.7" });
    expect(lines).toEqual([
      "HOST is 203.0.113.7, which is not an address of this machine: set an address of this machine, or 0.0.0.0 for all addresses.",
    ]);
  });

  test("a host name that does not resolve is refused", async () => {
    const lines = await refusal("demo", { HOST: "nowhere.invalid", ...(await variables("demo")) });
    expect(lines).toEqual([
      "HOST is nowhere.invalid, which is not an address of this machine: set an address of this machine, or 0.0.0.0 for all addresses.",
    ]);
  });

  test.skipIf(!ipv6)("an IPv6 address is served, and shown in brackets", async () => {
    const platform = await start("platform", { ...(await platformVariables()), HOST: "::1" });
    const { GATEWAY_PORT } = await servicePorts(platform);
    expect((await fetch(`http://[::1]:${GATEWAY_PORT}/nowhere`)).status).toBe(404);
    await waitFor(() => platform.stdout.join("\n").includes(`http://[::1]:${GATEWAY_PORT}`));
  });

  test.skipIf(!mayDropRights())("a port that this user may not bind is refused with the reason", async () => {
    const command = [...WITHOUT_RIGHTS, process.execPath, "apps/demo/main.ts"];
    const env = { PATH: process.env.PATH, HOME: tmpdir(), PORT: "81", IDENTITY_PROVIDER_PORT: "0" };
    const { exitCode, stderr } = await runToEnd(command, { env });
    expect(exitCode).toBe(78);
    expect(stderr).toContain("PORT is 81, which this user may not bind: set a port above 1023.");
  });
});

const WITHOUT_RIGHTS = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all"];

/** Returns true if this process is root, only root may bind port 81, and other users can read these files. */
function mayDropRights(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0 || Bun.which("setpriv") === null) return false;
  const firstFreePort = readFileSync("/proc/sys/net/ipv4/ip_unprivileged_port_start", "utf8");
  const reads = Bun.spawnSync([...WITHOUT_RIGHTS, "test", "-r", join(ROOT, "apps/demo/main.ts")]);
  return Number(firstFreePort) > 81 && reads.exitCode === 0;
}

function hasIpv6(): boolean {
  try {
    Bun.listen({ hostname: "::1", port: 0, socket: { data: () => {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(!etcd.own)("REUSE_PORT", () => {
  // GW-157, OP-4
  test("lets gateways share PORT, and both serve", async () => {
    const env = { ...(await variables("gateway")), REUSE_PORT: "true" };
    const first = await start("gateway", env);
    const { PORT } = portsOf(first);
    const second = await start("gateway", { ...env, PORT });
    expect(second.url).toBe(first.url);
    const served = async ({ internalUrl }: RunningProcess) =>
      /^http_requests_total\{route="unmatched".*\} \d+$/m.test(
        await (await fetch(`${internalUrl}/metrics`)).text(),
      );
    await waitFor(async () => {
      await Promise.all(
        Array.from({ length: 20 }, () => fetch(`${first.url}/nowhere`, { headers: { Connection: "close" } })),
      );
      return (await served(first)) && (await served(second));
    });
  });

  test("is needed by both gateways that share a port", async () => {
    const gateway = await variables("gateway");
    const alone = portsOf(await start("gateway", gateway));
    const sharing = portsOf(await start("gateway", { ...gateway, REUSE_PORT: "true" }));
    expect(await refusal("gateway", { ...gateway, PORT: alone.PORT, REUSE_PORT: "true" })).toEqual([
      inUse("PORT", alone.PORT, "127.0.0.1", "a program that does not share the port"),
    ]);
    for (const app of ["gateway", "registry"]) {
      const env = { ...(await variables(app)), PORT: sharing.PORT };
      expect(await refusal(app, env)).toEqual([inUse("PORT", sharing.PORT)]);
    }
  });

  // GW-157
  test("does not apply to INTERNAL_PORT", async () => {
    const env = { ...(await variables("gateway")), REUSE_PORT: "true" };
    const { PORT, INTERNAL_PORT } = portsOf(await start("gateway", env));
    const refused = (ports: Record<string, string>) => refusal("gateway", { ...env, ...ports });
    expect(await refused({ PORT, INTERNAL_PORT })).toEqual([inUse("INTERNAL_PORT", INTERNAL_PORT)]);
    expect(await refused({ INTERNAL_PORT: PORT })).toEqual([inUse("INTERNAL_PORT", PORT)]);
    expect(await refused({ PORT, INTERNAL_PORT: PORT })).toContain(
      `INTERNAL_PORT is ${PORT}, the same port as PORT: set two different ports.`,
    );
  });

  test("is refused by the platform", () => {
    expect(() => loadPlatform({ ...everyPort("0"), REUSE_PORT: "true" })).toThrow(
      "REUSE_PORT works only for gateways",
    );
  });
});
