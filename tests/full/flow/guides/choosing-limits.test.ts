/** Tests that choosing-limits.md is right: its commands run against a gateway. */
import { beforeAll, describe, expect, test } from "bun:test";
import { validateDocument } from "@ostiary/lib/domain/routes";
import { parse } from "yaml";
import { startPlatformHere } from "../../../app/platform/bed.ts";
import { blocksOf, commandsOf } from "../../../support/documents/documents.ts";
import { Reader } from "../../../support/documents/guide-reader.ts";
import { duringTests } from "../../../support/during-tests.ts";
import { newSession } from "./caller.ts";

const GUIDE = ".github/guides/choosing-limits.md";

const platform = duringTests(startPlatformHere);
let reader: Reader;

const sessionOf = (subject: string) =>
  newSession(platform.tour?.identityProviderUrl ?? "", platform.addresses.gatewayUrl, subject);

beforeAll(async () => {
  reader = await Reader.open({
    GATEWAY: platform.addresses.gatewayUrl,
    KEY: await sessionOf("first"),
    REGISTRY_URL: platform.addresses.registryUrl,
    ADMIN_TOKEN: await Bun.file(platform.adminTokenFile).text(),
  });
  const [publish = ""] = await commandsOf(GUIDE, "Rate limits of routes");
  await reader.run(publish.replace("http://127.0.0.1:4000", platform.tour?.sampleServiceUrl ?? ""));
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
    const other = await sessionOf("second");
    const spared = await reader.run(`export KEY=${other}\n${call}`);
    expect(spared).toMatch(/^X-RateLimit-Limit: 1000\r?$/m);
    expect(spared).toMatch(/^X-RateLimit-Remaining: 999\r?$/m);
  });
});
