/** Tests that choosing-limits.md is right: its commands run against a gateway. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { gatewayVariables } from "@ostiary/gateway/config";
import { blocksOf, commandsOf } from "../../../support/documents/documents.ts";
import { Reader } from "../../../support/documents/guide-reader.ts";
import { type Stack, startStack } from "../../../support/processes/stack.ts";
import { ROOT } from "../../../support/root.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { newSession } from "./caller.ts";

setDefaultTimeout(120_000);

const GUIDE = ".github/guides/choosing-limits.md";

let stack: Stack;
let reader: Reader;
let session: string;

beforeAll(async () => {
  stack = await startStack();
  session = await newSession(stack, "first");
  reader = await Reader.open({
    GATEWAY: stack.gateway.url,
    KEY: session,
    REGISTRY_URL: stack.registry.url,
    ADMIN_TOKEN: stack.adminToken,
  });
  const [publish = ""] = await commandsOf(GUIDE, "Rate limits of routes");
  await reader.run(publish.replace("http://127.0.0.1:4000", stack.sampleServiceUrl));
});
afterAll(async () => {
  await stack?.close();
});

describe("choosing-limits.md", () => {
  test("shows routes that share a policy, and a route without a limit", async () => {
    const [, call = ""] = await commandsOf(GUIDE, "Rate limits of routes");
    const [statuses = ""] = (await reader.run(call)).split("X-RateLimit");
    expect(statuses.trim().split("\n")).toEqual(["200", "200", "429", "200", "200", "200"]);
    const other = await newSession(stack, "second");
    const spared = await reader.run(`export KEY=${other}\n${call}`);
    expect(spared).toMatch(/^X-RateLimit-Limit: 1000\r?$/m);
    expect(spared).toMatch(/^X-RateLimit-Remaining: 999\r?$/m);
  });

  test("has a command that finds the busiest minutes in the gateway's log", async () => {
    await fetch(`${stack.gateway.url}/reports/status`, { headers: { "X-API-Key": session } });
    const line = () => stack.output().find((each) => each.includes('"/reports/status"'));
    await waitFor(() => line() !== undefined, { what: "the line of the request" });
    await Bun.write(
      join(reader.directory, "gateway.log"),
      `${stack
        .output()
        .filter((each) => each.startsWith("{"))
        .join("\n")}\n`,
    );
    const text = await Bun.file(join(ROOT, GUIDE)).text();
    const [, count = ""] = text.match(/```sh\n +(jq .*)\n/) ?? [];
    expect(await reader.run(count)).toMatch(/^ +\d+ \S+ [0-9A-Z]{26} \/reports\/status$/m);
  });

  test("names only environment variables of the gateway, with their defaults", async () => {
    const text = await Bun.file(join(ROOT, GUIDE)).text();
    const names = Array.from(text.matchAll(/`([A-Z]+_[A-Z_]+)`/g), ([, name = ""]) => name);
    expect(names.length).toBeGreaterThan(12);
    expect(names.filter((name) => !(name in gatewayVariables.properties))).toEqual([]);
    expect(gatewayVariables.properties.MAX_BODY_BYTES.default).toBe(10 * 1024 * 1024);
    expect(gatewayVariables.properties.APIKEY_CACHE_TTL_SECS.default).toBe(300);
    expect((await blocksOf(GUIDE)).length).toBeGreaterThan(1);
  });
});
