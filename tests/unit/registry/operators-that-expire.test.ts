import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256Of } from "@ostiary/lib/runtime/config/operators-file";
import { Operators } from "@ostiary/registry/operators";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { manualClock } from "../../support/time/manual-clock.ts";

const END = "2026-01-01T00:00:01.000Z";
const provider = {
  issuer: "https://login.example.com",
  verify: async () => ({
    issuer: "https://login.example.com",
    subject: "pipeline",
    expiresAtMs: 0,
    claims: { team: "blue" },
  }),
};

// RG-112, RG-174
test("a token, an operator and the operator's claims end at expires_at, and not before", async () => {
  const file = join(temporaryFolder("operators"), "operators.yaml");
  const operators = [
    { name: "one", role: "reader", token_sha256: [{ sha256: sha256Of("of-one"), expires_at: END }] },
    { name: "two", role: "reader", token_sha256: [sha256Of("of-two")], expires_at: END },
    { name: "blue", role: "reader", claims: { team: "blue" }, expires_at: END },
  ];
  writeFileSync(file, JSON.stringify({ operators }));
  const clock = manualClock();
  const log = { info: () => {}, warn: () => {} };
  const registry = new Operators({ adminToken: "of-admin", file, provider, clock, log });
  const known = async () => {
    const callers = await Promise.all(
      ["of-one", "of-two", "e30.e30.c2ln"].map((token) => registry.identify(token)),
    );
    return callers.map((caller) => ("operator" in caller ? caller.operator.name : null));
  };
  const tokens = () => registry.list().map(({ name, tokens }) => [name, tokens]);

  clock.set(Date.parse(END) - 1);
  expect(await known()).toEqual(["one", "two", "blue"]);
  expect(tokens()).toEqual([
    ["admin", 1],
    ["one", 1],
    ["two", 1],
    ["blue", 0],
  ]);
  clock.set(END);
  expect(await known()).toEqual([null, null, null]);
  expect(tokens()).toEqual([
    ["admin", 1],
    ["one", 0],
    ["two", 0],
    ["blue", 0],
  ]);
});
