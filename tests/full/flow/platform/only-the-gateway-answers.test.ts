/** Tests which ports of a platform answer to another address, from a network namespace beside this one. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type PlatformHere, startPlatformHere } from "../../../app/platform/bed.ts";
import { freePort } from "../../../support/http/free-port.ts";

setDefaultTimeout(120_000);

const NAME = `ostiary-${process.pid}`;
/** The ends of the link have at most 15 characters. */
const [HERE, THERE] = [`os${process.pid}a`, `os${process.pid}b`];
const ADDRESS = "10.203.77.1";

const run = (...command: string[]) => {
  try {
    return Bun.spawnSync(command, { stdout: "pipe", stderr: "pipe", timeout: 20_000 });
  } catch {
    return null; // the program is not installed
  }
};
const ip = (...parameters: string[]) => run("ip", ...parameters)?.exitCode === 0;

const isPermitted =
  ip("netns", "add", NAME) &&
  ip("link", "add", HERE, "type", "veth", "peer", "name", THERE, "netns", NAME) &&
  ip("addr", "add", `${ADDRESS}/30`, "dev", HERE) &&
  ip("link", "set", HERE, "up") &&
  ip("-n", NAME, "addr", "add", "10.203.77.2/30", "dev", THERE) &&
  ip("-n", NAME, "link", "set", THERE, "up");
if (!isPermitted)
  process.stderr.write("skipped: this machine does not permit network namespaces (ip netns)\n");
afterAll(() => {
  ip("netns", "del", NAME);
  ip("link", "del", HERE);
});

/** Returns the names of the ports that answer a request from the other namespace. */
async function answering(platform: PlatformHere): Promise<string[]> {
  const tried = Object.entries(portsIn(platform.config)).map(async ([name, port]) => {
    const url = `http://${ADDRESS}:${port}/`;
    const curl = ["curl", "-s", "-o", "/dev/null", "--max-time", "30", url];
    // The command must not block this process, in which the platform runs.
    const { exited } = Bun.spawn(["ip", "netns", "exec", NAME, ...curl], {
      stdout: "ignore",
      stderr: "ignore",
    });
    return (await exited) === 0 ? [name] : [];
  });
  return (await Promise.all(tried)).flat().toSorted();
}

// OP-137
describe.skipIf(!isPermitted)("a platform with HOST=0.0.0.0", () => {
  const env = { HOST: "0.0.0.0", DEMO: "true", ...portsOfAll() };
  let platform: PlatformHere;
  beforeAll(async () => {
    platform = await startPlatformHere(env);
  });
  afterAll(() => platform?.shutdown());

  test("answers another address on the gateway's public port alone", async () => {
    const ports = Object.values(portsIn(platform.config));
    expect(ports).toHaveLength(12);
    for (const port of ports) expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBeLessThan(500);
    expect(await answering(platform)).toEqual(["GATEWAY_PORT"]);
  });

  test("answers on the ports of a part that has an address of its own", async () => {
    await platform.shutdown();
    platform = await startPlatformHere({ ...env, REGISTRY_HOST: "0.0.0.0" });
    expect(await answering(platform)).toEqual(["GATEWAY_PORT", "REGISTRY_INTERNAL_PORT", "REGISTRY_PORT"]);
  });
});

/** Returns free ports for all listeners, because the test must know each of them. */
function portsOfAll(): Record<string, string> {
  const parts = ["GATEWAY", "REGISTRY", "IDENTITY", "AUDIT", "PORTAL"];
  const names = parts.flatMap((part) => [`${part}_PORT`, `${part}_INTERNAL_PORT`]);
  return Object.fromEntries(
    [...names, "DEMO_PORT", "DEMO_IDENTITY_PROVIDER_PORT"].map((name) => [name, String(freePort())]),
  );
}

function portsIn(config: object): Record<string, number> {
  return Object.fromEntries(Object.entries(config).filter(([name]) => name.endsWith("_PORT")));
}
