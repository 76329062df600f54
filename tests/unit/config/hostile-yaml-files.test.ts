import { describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkWitnesses } from "@ostiary/audit/witnesses";
import { checkIssuersFile } from "@ostiary/gateway/admission/issuers-file";
import type { ConfigProblem } from "@ostiary/lib/runtime/config";
import { checkOperatorsFile } from "@ostiary/lib/runtime/config/operators-file";
import { checkRolesFile } from "@ostiary/lib/runtime/config/roles-file";
import { checkBrandFile } from "@ostiary/portal/brand";
import { publicBytes, verifierKeyText } from "../../support/audit/test-log.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("yaml-files");

/** Returns the verifier key of a new witness. */
function verifierKey(): string {
  return verifierKeyText("example.com", 4, publicBytes(generateKeyPairSync("ed25519").privateKey));
}

/** The check of each YAML file of a variable, with a valid text that has an alias. */
const files: Readonly<Record<string, { check: (path: string) => ConfigProblem[]; valid: string }>> = {
  OPERATORS_FILE: {
    check: (OPERATORS_FILE) => checkOperatorsFile({ OPERATORS_FILE }),
    valid: `operators: [{ name: &ci ci, role: publisher, token_sha256: ["${"0".repeat(64)}"], services: [*ci], paths: [/a] }]`,
  },
  AUTH_ISSUERS_FILE: {
    check: (AUTH_ISSUERS_FILE) => checkIssuersFile({ AUTH_ISSUERS_FILE }),
    valid: "issuers: [{ issuer: &url https://a.example, jwks_uri: *url, audiences: [], user_id_claim: sub }]",
  },
  ROLES_FILE: {
    check: (ROLES_FILE) => checkRolesFile({ ROLES_FILE }),
    valid: "roles: { owner: &all ['*'], boss: *all }\ncreator_role: owner\ndefault_role: boss",
  },
  AUDIT_WITNESSES_FILE: {
    check: (AUDIT_WITNESSES_FILE) => checkWitnesses({ AUDIT_WITNESSES_FILE, AUDIT_SIGNING_KEY_FILE: "key" }),
    valid: `witnesses:
  - { name: w1, url: &url "https://witness.example.com", key: "${verifierKey()}" }
  - { name: w2, url: *url, key: "${verifierKey()}" }`,
  },
  PORTAL_BRAND_FILE: {
    check: (PORTAL_BRAND_FILE) => checkBrandFile({ PORTAL_BRAND_FILE }),
    valid: "name: Acme\nlinks: { support: &us https://acme.example.com, terms: *us }",
  },
};

/** Ten levels of aliases. Each level repeats the previous level nine times. */
const billionLaughs = [
  "l0: &l0 [x, x, x, x, x, x, x, x, x]",
  ...Array.from({ length: 9 }, (_, n) => `l${n + 1}: &l${n + 1} [${Array(9).fill(`*l${n}`).join(", ")}]`),
].join("\n");
const DEPTH = 30_000;
const TOO_DEEP = "The YAML is nested more than 64 levels deep: flatten it.";
const INSIDE_ITSELF = "The alias *a is inside the value that it repeats: remove the alias.";

const hostile: readonly (readonly [what: string, text: string, message: string])[] = [
  [
    "expands to a billion values",
    billionLaughs,
    "The aliases of the YAML expand to too many values: write the values out.",
  ],
  ["opens 30 000 lists", "[".repeat(DEPTH), TOO_DEEP],
  ["has 30 000 lists in block style", `${"- ".repeat(DEPTH)}x`, TOO_DEEP],
  ["has a list inside itself", "a: &a [*a]", INSIDE_ITSELF],
  [
    "has two values inside each other",
    "a: &a [*b]\nb: &b [*a]",
    "The alias *b has no anchor before it: write &name before the value that it repeats, or quote the text.",
  ],
];

describe.each(Object.entries(files))("%s", (variable, { check, valid }) => {
  const problemsOf = (text: string) => {
    const path = join(folder, variable);
    writeFileSync(path, text);
    return check(path);
  };

  // OP-98
  test("may use aliases", () => {
    expect(problemsOf(valid)).toEqual([]);
  });

  // OP-98, RG-37, RG-39
  test.each(hostile)("is refused if it %s, and the message says what to do", (_, text, message) => {
    expect(problemsOf(text)).toEqual([{ variable, message: expect.stringMatching(/^line \d+: /) }]);
    expect(problemsOf(text)[0]?.message.replace(/^line \d+: /, "")).toBe(message);
  });
});
