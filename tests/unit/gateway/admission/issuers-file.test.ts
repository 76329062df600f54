import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkIssuersFile, loadIssuersFile } from "@ostiary/gateway/admission/issuers-file";
import { ConfigError, loadConfig } from "@ostiary/lib/runtime/config";
import { Type } from "@sinclair/typebox";
import { admissionVariables } from "../../../../apps/gateway/admission/config.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { thrownBy } from "../../../support/thrown.ts";

const file = join(temporaryFolder("issuers-file"), "issuers.yaml");

function write(text: string): string {
  writeFileSync(file, text);
  return file;
}

const problems = (text: string) =>
  checkIssuersFile({ AUTH_ISSUERS_FILE: write(text) }).map(({ variable, message }) => {
    expect(variable).toBe("AUTH_ISSUERS_FILE");
    return message;
  });

const ENTRY = {
  issuer: "https://a.example",
  jwks_uri: "https://a.example/keys",
  audiences: ["web"],
  user_id_claim: "sub",
};
const TEMPLATE = { ...ENTRY, issuer: "https://t.example/{tenantid}/v2.0", tenants: "any" };
const fileOf = (...entries: object[]) =>
  `issuers:\n${entries.map((entry) => `  - ${JSON.stringify(entry)}\n`).join("")}`;

// GW-230
test("a file with exact issuers and templates yields each with its rules", () => {
  const text = fileOf(
    { ...ENTRY, audiences: [], user_id_claim: "properties.user_id" },
    { ...TEMPLATE, tenants: ["t1", "t2"] },
    { ...TEMPLATE, issuer: "https://{tenantid}.t.example" },
  );
  const { issuer: _, user_id_claim: __, ...rules } = ENTRY;
  expect(loadIssuersFile(write(text))).toEqual([
    { ...rules, issuer: ENTRY.issuer, audiences: [], subjectPath: ["properties", "user_id"], tenants: null },
    { ...rules, issuer: TEMPLATE.issuer, subjectPath: ["sub"], tenants: new Set(["t1", "t2"]) },
    { ...rules, issuer: "https://{tenantid}.t.example", subjectPath: ["sub"], tenants: "any" },
  ]);
});

const long = (length: number) => `https://${"x".repeat(length - 8)}`;
const refused: [what: string, text: string, ...messages: string[]][] = [
  [
    "no list",
    "issuer: https://a.example",
    "line 1: issuers is required and must be a list of 1 to 100 issuers",
    "line 1: issuer is not a known field: remove the field. Did you mean `issuers`?",
  ],
  ["an empty list", "issuers: []", "line 1: issuers must be a list of 1 to 100 issuers"],
  [
    "101 issuers",
    fileOf(...Array.from({ length: 101 }, (_, n) => ({ ...ENTRY, issuer: `i${n}` }))),
    "line 1: issuers must be a list of 1 to 100 issuers",
  ],
  [
    "a repeated key",
    "issuers:\n  - issuer: a\n    issuer: b\n    jwks_uri: http://a\n    audiences: []\n    user_id_claim: sub\n",
    "line 3: a key occurs twice in one map",
  ],
  [
    "an issuer of 256 characters",
    fileOf({ ...ENTRY, issuer: long(256) }),
    "line 2: issuers[0].issuer must be the exact iss of the tokens: 1 to 255 visible ASCII characters, without spaces",
  ],
  [
    "a key set without scheme",
    fileOf({ ...ENTRY, jwks_uri: "a.example/keys" }),
    "line 2: issuers[0].jwks_uri must be an absolute http:// or https:// URL",
  ],
  [
    "a text for audiences",
    fileOf({ ...ENTRY, audiences: "web" }),
    "line 2: issuers[0].audiences must be a list of at most 100 different audiences; [] turns the check off",
  ],
  [
    "an empty audience",
    fileOf({ ...ENTRY, audiences: [""] }),
    "line 2: issuers[0].audiences[0] must be an audience of 1 to 512 characters",
  ],
  [
    "a place twice",
    fileOf({ ...TEMPLATE, issuer: "https://{tenantid}.example/{tenantid}" }),
    "line 2: issuers[0].issuer may contain {tenantid} once, and no other braces",
  ],
  [
    "a template without tenants",
    fileOf({ ...TEMPLATE, tenants: undefined }),
    "line 2: issuers[0].tenants is required for an issuer with {tenantid}: list the ids of the tenants, or write any",
  ],
  [
    "tenants without a template",
    fileOf({ ...ENTRY, tenants: ["t1"] }),
    "line 2: issuers[0].tenants is only for an issuer with {tenantid}: remove tenants",
  ],
  [
    "no tenant",
    fileOf({ ...TEMPLATE, tenants: [] }),
    "line 2: issuers[0].tenants must be any, or a list of 1 to 10000 different ids of tenants",
  ],
  [
    "any in a list",
    fileOf({ ...TEMPLATE, tenants: ["t1", "any"] }),
    "line 2: issuers[0].tenants lists any, which is no tenant's id: write `tenants: any`, or list ids",
  ],
  [
    "a tenant with a slash",
    fileOf({ ...TEMPLATE, tenants: ["a/b"] }),
    "line 2: issuers[0].tenants[0] must be a tenant's id: 1 to 64 letters, digits, dots, hyphens and underscores, in quotes",
  ],
  [
    "a template of 192 characters",
    fileOf({ ...TEMPLATE, issuer: `${long(182)}{tenantid}` }),
    "line 2: issuers[0].issuer must have at most 191 characters with {tenantid}",
  ],
  [
    "a template without audiences",
    fileOf({ ...TEMPLATE, audiences: [] }),
    "line 2: issuers[0].audiences must name an audience for an issuer with {tenantid}: every application of a tenant gets tokens",
  ],
];

// GW-230, GW-231, OP-98
describe("a file is refused, with its line, for", () => {
  test.each(refused)("%s", (_, text, ...messages) => {
    expect(problems(text)).toEqual(messages.map((message) => `${message}.`));
  });
});

// GW-230
test("a file may have values of the greatest length, and none is one longer", () => {
  const greatest = (more: number) =>
    fileOf(
      { ...ENTRY, issuer: long(255 + more), user_id_claim: "c".repeat(256 + more) },
      { ...TEMPLATE, audiences: ["a".repeat(512 + more)], tenants: ["t".repeat(64 + more)] },
    );
  expect(problems(greatest(0))).toEqual([]);
  expect(problems(greatest(1)).map((message) => message.match(/issuers\S+/)?.[0])).toEqual([
    "issuers[0].issuer",
    "issuers[0].user_id_claim",
    "issuers[1].audiences[0]",
    "issuers[1].tenants[0]",
  ]);
});

// GW-230
test("a file may have 100 issuers", () => {
  const issuers = Array.from({ length: 100 }, (_, n) => ({ ...ENTRY, issuer: `i${n}` }));
  expect(problems(fileOf(...issuers))).toEqual([]);
});

const T = "{tenantid}";
const pairs: [one: string, other: string, isSame: boolean][] = [
  ["https://a", "https://a", true],
  ["https://a", "https://a/", false],
  [`https://a/${T}`, `https://a/${T}`, true],
  [`https://a/${T}`, "https://a/t1", true],
  [`https://a/${T}`, "https://a/t1/v2.0", false],
  [`https://a/${T}`, "https://a/", false],
  [`https://a/${T}/v2.0`, "https://a/v2.0", false],
  [`https://a/${T}`, `https://a/${T}/v2.0`, false],
  [`https://a/${T}`, `https://a/x-${T}`, true],
  [`https://a/x-${T}`, `https://a/${T}-y`, true],
  [`https://a/x/${T}`, `https://a/${T}/y`, false],
  [`https://a/${T}/v1`, `https://a/${T}/v2`, false],
  [`https://${T}.a`, `https://b.${T}`, true],
];

// GW-231
describe("issuers of two entries", () => {
  test.each(pairs)("%s and %s may match one token: %p", (one, other, isSame) => {
    const entryOf = (issuer: string) => ({ ...(issuer.includes(T) ? TEMPLATE : ENTRY), issuer });
    const messages = isSame
      ? [
          "line 3: issuers[1].issuer can be the iss of the same tokens as issuers[0].issuer: keep one of the two.",
        ]
      : [];
    expect(problems(fileOf(entryOf(one), entryOf(other)))).toEqual(messages);
    expect(problems(fileOf(entryOf(other), entryOf(one)))).toEqual(messages);
  });
});

// GW-230
test("the file and a variable of a single issuer are refused together, and the message names both", () => {
  const environment = {
    CREDENTIAL_VALIDATE_URL: "http://identity",
    AUTH_ISSUERS_FILE: write(fileOf(ENTRY)),
    AUTH_ISSUER: "https://a.example",
    AUTH_JWKS_URI: "https://a.example/keys",
    AUTH_ALLOWED_AUDIENCES: "web",
    AUTH_USER_ID_CLAIM: "sub",
  };
  const load = () => loadConfig(Type.Object(admissionVariables), environment, checkIssuersFile);
  expect(thrownBy(ConfigError, load)?.problems).toEqual(
    ["AUTH_ISSUER", "AUTH_JWKS_URI", "AUTH_ALLOWED_AUDIENCES", "AUTH_USER_ID_CLAIM"].map((variable) => ({
      variable,
      message: "and AUTH_ISSUERS_FILE are both set: keep one of them.",
    })),
  );
});

// GW-230
test("a file that cannot be read is refused", () => {
  expect(checkIssuersFile({ AUTH_ISSUERS_FILE: "/nowhere" })).toEqual([
    { variable: "AUTH_ISSUERS_FILE", message: "names /nowhere, which cannot be read." },
  ]);
});

// GW-231
test("a template in AUTH_ISSUER is refused, and the message says where it belongs", () => {
  expect(checkIssuersFile({ AUTH_ISSUER: TEMPLATE.issuer })).toEqual([
    {
      variable: "AUTH_ISSUER",
      message: "contains {tenantid}: list the issuer in AUTH_ISSUERS_FILE, with its tenants.",
    },
  ]);
});
