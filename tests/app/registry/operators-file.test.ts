import { describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import { atTestEnd } from "../../support/at-test-end.ts";
import { startLoadingGateway } from "../../support/gateway/loading-gateway.ts";
import { rejection, waitFor } from "../../support/index.ts";
import { clientOf, type Entry, type Registry, service, startRegistry } from "./bed.ts";
import { entry, OperatorsFile } from "./operators.ts";

/** Starts a registry with an operators file, which ends with the test. */
async function start(...operators: Entry[]): Promise<{ file: OperatorsFile; registry: Registry }> {
  const file = new OperatorsFile();
  await file.write(...operators);
  const registry = await startRegistry({ env: { OPERATORS_FILE: file.path } });
  atTestEnd(() => registry.stop());
  return { file, registry };
}
const statusOf = async (registry: Registry, name: string) =>
  (await registry.as(name).call("GET", "/operator")).status;
const becomes = (registry: Registry, name: string, status: number) =>
  waitFor(async () => (await statusOf(registry, name)) === status, { what: `${status} for ${name}` });

async function isInvalid({ internalUrl }: Registry): Promise<boolean> {
  const { body } = await clientOf(internalUrl).call("GET", "/metrics");
  return /^registry_operators_file_invalid 1$/m.test(body);
}

// RG-116
describe("a file that changes while the registry runs", () => {
  test("admits new operators, and refuses removed ones", async () => {
    const { file, registry } = await start(entry("blue", "reader"));
    expect([await statusOf(registry, "blue"), await statusOf(registry, "green")]).toEqual([200, 401]);
    await file.write(entry("green", "reader"));
    await becomes(registry, "green", 200);
    expect([await statusOf(registry, "blue"), await statusOf(registry, "admin")]).toEqual([401, 200]);
  });

  test("and becomes invalid does not apply, as a metric says until it is valid again", async () => {
    const { file, registry } = await start(entry("blue", "reader"));
    expect(await isInvalid(registry)).toBe(false);
    await file.writeText("operators: [{name: x}]");
    await waitFor(() => isInvalid(registry));
    expect([await statusOf(registry, "blue"), await statusOf(registry, "admin")]).toEqual([200, 200]);
    await file.write(entry("blue", "reader"));
    await waitFor(async () => !(await isInvalid(registry)));
    await rm(dirname(file.path), { recursive: true });
    await waitFor(() => isInvalid(registry));
    expect(await statusOf(registry, "blue")).toBe(200);
  });
});

// RG-118
describe("a token that expires", () => {
  test("while a write waits does not affect that write", async () => {
    const blue = { services: ["w"], paths: ["/w"], urls: ["http://upstream:8080"] };
    const { file, registry } = await start(entry("blue", "publisher", blue));
    await using gateway = await startLoadingGateway(registry.routeStore);
    gateway.holdUp();
    const services = { w: service("/w") };
    const write = registry.as("blue").call("POST", "/apply?wait_ms=30000", { services });
    await waitFor(async () => (await registry.call("GET", "/services/w")).status === 200);
    await file.write(entry("blue", "publisher", { ...blue, expires_at: "2020-01-01T00:00:00Z" }));
    await becomes(registry, "blue", 401);
    gateway.goOn();
    const { status, body } = await write;
    expect([status, body.propagation.reached]).toEqual([200, 1]);
  });
});

// RG-111
describe("a start with an invalid file", () => {
  test("is refused with every violation", async () => {
    const wrong = entry("team", "publisher");
    const refused = String(await rejection(startRegistry({ operators: [wrong] })));
    expect(refused).toContain("OPERATORS_FILE");
    expect(refused).toContain("operators[0].services is required for a publisher.");
    expect(refused).toContain("operators[0].paths is required for a publisher.");
  });
});
