import { describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import { atTestEnd } from "../../support/at-test-end.ts";
import { startLoadingGateway } from "../../support/gateway/loading-gateway.ts";
import { waitFor } from "../../support/index.ts";
import { clientOf, service } from "./harness.ts";
import { type Entry, entry, type OperatedRegistry, startOperated } from "./operators-bed.ts";

async function start(
  operators: Entry[],
  given?: Parameters<typeof startOperated>[1],
): Promise<OperatedRegistry> {
  const operated = await startOperated(operators, given);
  atTestEnd(() => operated.stop());
  return operated;
}
const statusOf = async (operated: OperatedRegistry, name: string) =>
  (await operated.as(name).call("GET", "/operator")).status;
const becomes = (operated: OperatedRegistry, name: string, status: number) =>
  waitFor(async () => (await statusOf(operated, name)) === status, { what: `${status} for ${name}` });

async function isInvalid({ registry }: OperatedRegistry): Promise<boolean> {
  const { body } = await clientOf(registry.internalUrl).call("GET", "/metrics");
  return /^registry_operators_file_invalid 1$/m.test(body);
}

// RG-116
describe("a file that changes while the registry runs", () => {
  test("admits new operators, and refuses removed ones", async () => {
    const operated = await start([entry("blue", "reader")]);
    expect([await statusOf(operated, "blue"), await statusOf(operated, "green")]).toEqual([200, 401]);
    await operated.file.write(entry("green", "reader"));
    await becomes(operated, "green", 200);
    expect([await statusOf(operated, "blue"), await statusOf(operated, "admin")]).toEqual([401, 200]);
  });

  test("and becomes invalid does not apply, as a metric says until it is valid again", async () => {
    const operated = await start([entry("blue", "reader")]);
    expect(await isInvalid(operated)).toBe(false);
    await operated.file.writeText("operators: [{name: x}]");
    await waitFor(() => isInvalid(operated));
    expect([await statusOf(operated, "blue"), await statusOf(operated, "admin")]).toEqual([200, 200]);
    await operated.file.write(entry("blue", "reader"));
    await waitFor(async () => !(await isInvalid(operated)));
    await rm(dirname(operated.file.path), { recursive: true });
    await waitFor(() => isInvalid(operated));
    expect(await statusOf(operated, "blue")).toBe(200);
  });
});

// RG-118
describe("a token that expires", () => {
  test("while a write waits does not affect that write", async () => {
    const blue = { services: ["w"], paths: ["/w"], urls: ["http://upstream:8080"] };
    const operated = await start([entry("blue", "publisher", blue)]);
    await using gateway = await startLoadingGateway(operated.registry.routeStore);
    gateway.holdUp();
    const services = { w: service("/w") };
    const write = operated.as("blue").call("POST", "/apply?wait_ms=30000", { services });
    await waitFor(async () => (await operated.as("admin").call("GET", "/services/w")).status === 200);
    await operated.file.write(entry("blue", "publisher", { ...blue, expires_at: "2020-01-01T00:00:00Z" }));
    await becomes(operated, "blue", 401);
    gateway.goOn();
    const { status, body } = await write;
    expect([status, body.propagation.reached]).toEqual([200, 1]);
  });
});

// RG-111
describe("a start with an invalid file", () => {
  test("is refused with every violation", async () => {
    const wrong = entry("team", "publisher");
    const refused = await startOperated([wrong]).then(
      () => null,
      (error: Error) => error.message,
    );
    expect(refused).toContain("OPERATORS_FILE");
    expect(refused).toContain("operators[0].services is required for a publisher.");
    expect(refused).toContain("operators[0].paths is required for a publisher.");
  });
});
