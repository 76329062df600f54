/** Tests that choosing-limits.md is right: its commands run against a gateway. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { validateDocument } from "@ostiary/lib/domain/routes";
import { parse } from "yaml";
import { blocksOf, commandsOf } from "../../../support/documents/documents.ts";
import { Reader } from "../../../support/documents/guide-reader.ts";
import { type Stack, startStack } from "../../../support/processes/stack.ts";
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

// RG-167
test("choosing-limits.md shows bounds of a service and of its routes that a registry takes", async () => {
  const [block] = (await blocksOf(GUIDE)).filter(
    ({ heading }) => heading === "One slow export, one large upload",
  );
  expect(validateDocument(parse(block?.text ?? ""))).toMatchObject({ ok: true });
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
});
