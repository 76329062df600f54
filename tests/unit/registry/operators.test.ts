import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "@ostiary/lib/runtime/config";
import { sha256Of } from "@ostiary/lib/runtime/config/operators-file";
import { CredentialRefusal } from "@ostiary/lib/runtime/tokens";
import fc from "fast-check";
import { Operators } from "../../../apps/registry/operators/operators.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { manualClock } from "../../support/time/manual-clock.ts";

type Claims = Record<string, string>;

const file = join(temporaryFolder("operators"), "operators.yaml");

/** Returns the operators of a file with these entries. */
function operatorsOf(operators: readonly object[], clock = manualClock()): Operators {
  writeFileSync(file, JSON.stringify({ operators }));
  const issuer = "https://login.example.com";
  // This stand-in for an identity provider does not check signatures. It only decodes the claims of a token.
  const verify = async (token: string) => {
    const [, payload = ""] = token.split(".");
    const claims: Claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    return { issuer, subject: "pipeline", expiresAtMs: 0, claims };
  };
  const log = { info: () => {}, warn: () => {} };
  return new Operators({ adminToken: "of-admin", file, provider: { issuer, verify }, clock, log });
}

const tokenWith = (claims: Claims) => `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`;

/** Returns the name of the operator with a token, or null if the token is refused. */
async function nameFor(operators: Operators, token: string): Promise<string | null> {
  const found = await operators.identify(token);
  return found instanceof CredentialRefusal ? null : found.operator.name;
}

/** Returns operators with the given claims, named by their index, or null if their file is refused. */
function withClaims(all: readonly Claims[]): Operators | null {
  try {
    return operatorsOf(all.map((claims, place) => ({ name: `${place}`, role: "reader", claims })));
  } catch (error) {
    if (error instanceof ConfigError) return null;
    throw error;
  }
}

const has = (token: Claims, wanted: Claims) =>
  Object.entries(wanted).every(([name, value]) => token[name] === value);

const claims = fc.dictionary(fc.constantFrom("team", "ref", "env"), fc.constantFrom("1", "2"), {
  minKeys: 1,
});

// RG-126
test("a file is valid exactly if each operator is found by a token with its claims", async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(claims, { minLength: 1, maxLength: 6 }), claims, async (all, other) => {
      const first = (token: Claims) => all.findIndex((wanted) => has(token, wanted));
      const operators = withClaims(all);
      expect(operators !== null).toBe(all.every((token, place) => first(token) === place));
      if (operators === null) return;
      accepted += 1;
      for (const token of [...all, other]) {
        const place = first(token);
        expect(await nameFor(operators, tokenWith(token))).toBe(place < 0 ? null : `${place}`);
      }
    }),
  );
  expect(accepted).toBeGreaterThan(0);
});

// RG-112, RG-174
test("a token, an operator and the operator's claims end at expires_at, and not before", async () => {
  const END = "2026-01-01T00:00:01.000Z";
  const clock = manualClock();
  const registry = operatorsOf(
    [
      { name: "one", role: "reader", token_sha256: [{ sha256: sha256Of("of-one"), expires_at: END }] },
      { name: "two", role: "reader", token_sha256: [sha256Of("of-two")], expires_at: END },
      { name: "blue", role: "reader", claims: { team: "blue" }, expires_at: END },
    ],
    clock,
  );
  const presented = ["of-one", "of-two", tokenWith({ team: "blue" })];
  const known = () => Promise.all(presented.map((token) => nameFor(registry, token)));
  const tokens = () => registry.list().map(({ name, tokens }) => `${name} ${tokens}`);

  clock.set(Date.parse(END) - 1);
  expect(await known()).toEqual(["one", "two", "blue"]);
  expect(tokens()).toEqual(["admin 1", "one 1", "two 1", "blue 0"]);
  clock.set(END);
  expect(await known()).toEqual([null, null, null]);
  expect(tokens()).toEqual(["admin 1", "one 0", "two 0", "blue 0"]);
});
