import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "@ostiary/lib/runtime/config";
import { CredentialRefusal } from "@ostiary/lib/runtime/tokens";
import { Operators } from "@ostiary/registry/operators";
import fc from "fast-check";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { manualClock } from "../../support/time/manual-clock.ts";

type Claims = Record<string, string>;

const folder = temporaryFolder("claims");

/** Returns operators with the given claims, named by their index, or null if their file is refused. */
function operatorsOf(all: readonly Claims[]): Operators | null {
  const file = join(folder, "operators.yaml");
  const operators = all.map((claims, place) => ({ name: `${place}`, role: "reader", claims }));
  writeFileSync(file, JSON.stringify({ operators }));
  // This stand-in for an identity provider does not check signatures. It only decodes the claims of a token.
  const verify = async (token: string) => {
    const [, payload = ""] = token.split(".");
    const claims: Claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    return { issuer: "https://login.example.com", subject: "pipeline", expiresAtMs: 0, claims };
  };
  const log = { info: () => {}, warn: () => {} };
  const provider = { issuer: "https://login.example.com", verify };
  try {
    return new Operators({ adminToken: "admin-token", file, provider, clock: manualClock(), log });
  } catch (error) {
    if (error instanceof ConfigError) return null;
    throw error;
  }
}

async function nameFor(operators: Operators, claims: Claims): Promise<string | null> {
  const token = `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`;
  const found = await operators.identify(token);
  return found instanceof CredentialRefusal ? null : found.operator.name;
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
      const operators = operatorsOf(all);
      expect(operators !== null).toBe(all.every((token, place) => first(token) === place));
      if (operators === null) return;
      accepted += 1;
      for (const token of [...all, other]) {
        const place = first(token);
        expect(await nameFor(operators, token)).toBe(place < 0 ? null : `${place}`);
      }
    }),
  );
  expect(accepted).toBeGreaterThan(0);
});
