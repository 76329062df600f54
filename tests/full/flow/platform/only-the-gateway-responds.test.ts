/** Tests which ports of a platform respond to other addresses of this machine than 127.0.0.1. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FREE_PORTS, type PlatformHere, startPlatformHere } from "../../../app/platform/bed.ts";
import { freePort } from "../../../support/http/free-port.ts";

/** An address of Linux's loopback interface. A port that is bound to 127.0.0.1 refuses connections to it. */
const ANOTHER = "127.0.0.2";

/** Returns the variables of the ports that respond at an address. */
async function responding(address: string): Promise<string[]> {
  const tried = Object.entries(ports).map(async ([name, port]) => {
    const response = await fetch(`http://${address}:${port}/`).catch(() => null);
    return response === null ? [] : [name];
  });
  return (await Promise.all(tried)).flat().toSorted();
}

/** A free port for each listener, because the test must know all of them. */
const ports = Object.fromEntries(Object.keys(FREE_PORTS).map((name) => [name, String(freePort())]));

// OP-137
describe.skipIf(process.platform !== "linux")("a platform with HOST=0.0.0.0", () => {
  const env = { HOST: "0.0.0.0", DEMO: "true", ...ports };
  let platform: PlatformHere;
  beforeAll(async () => {
    platform = await startPlatformHere(env);
  });
  afterAll(() => platform?.shutdown());

  test("responds to another address on the gateway's public port alone", async () => {
    expect(await responding("127.0.0.1")).toEqual(Object.keys(ports).toSorted());
    expect(await responding(ANOTHER)).toEqual(["GATEWAY_PORT"]);
  });

  test("responds on the ports of a part that has an address of its own", async () => {
    await platform.shutdown();
    platform = await startPlatformHere({ ...env, REGISTRY_HOST: "0.0.0.0" });
    expect(await responding(ANOTHER)).toEqual(["GATEWAY_PORT", "REGISTRY_INTERNAL_PORT", "REGISTRY_PORT"]);
  });
});
