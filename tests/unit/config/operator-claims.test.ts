import { describe, expect, test } from "bun:test";
import { ConfigError } from "@ostiary/lib/runtime/config";
import { type OperatorsContext, parseOperatorsFile } from "@ostiary/lib/runtime/config/operators-file";
import { checkOperatorProvider } from "@ostiary/registry/operators/config";
import { fitsClaims } from "../../../apps/registry/operators/claims.ts";
import { thrownBy } from "../../support/thrown.ts";

const ISSUER = "https://login.example.com";
const GITHUB = "https://token.actions.githubusercontent.com";

type Fields = Record<string, unknown>;

/** Returns an operators file. Each operator is a reader with the given fields. */
function fileOf(...operators: Fields[]): string {
  return JSON.stringify({
    operators: operators.map((fields, index) => ({ name: `o${index}`, role: "reader", ...fields })),
  });
}

function problems(text: string, context: OperatorsContext = { issuer: ISSUER }): string[] {
  const error = thrownBy(ConfigError, () => parseOperatorsFile(text, context));
  return (error?.problems ?? []).map(({ message }) => message.replace(/^line \d+: /, ""));
}

// RG-124
describe("an operator with claims", () => {
  test("is parsed with its claims and its expiry", () => {
    const [ada] = parseOperatorsFile(
      fileOf({ claims: { groups: "platform", hd: "example.com" }, expires_at: "2027-01-31T12:00:00Z" }),
    );
    expect(ada).toEqual({
      operator: { name: "o0", role: "reader", services: [], paths: [], urls: [] },
      endsMs: Date.parse("2027-01-31T12:00:00Z"),
      tokens: [],
      claims: {
        pairs: [
          ["groups", "platform"],
          ["hd", "example.com"],
        ],
      },
    });
  });

  const MAP = "operators[0].claims must be a map of 1 to 8 claims, each a name and a value";
  const VALUE = "must be text of 1 to 512 characters; write numbers, true, false and null in quotes";
  const nine = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`c${index}`, "x"]));
  test.each<[string, unknown, string]>([
    ["that are empty", {}, MAP],
    ["that are nine", nine, MAP],
    ["with a number", { id: 7 }, `operators[0].claims.id ${VALUE}`],
    ["with an empty value", { groups: "" }, `operators[0].claims.groups ${VALUE}`],
    ["with a line break", { groups: "a\nb" }, `operators[0].claims.groups ${VALUE}`],
    [
      "with a star",
      { repository: "acme/*" },
      "operators[0].claims.repository contains *, which is not a wildcard in claims: write the whole value",
    ],
    [
      "with a line break in a name",
      { "a\nb": "x" },
      "operators[0].claims must have names of 1 to 256 visible ASCII characters",
    ],
  ])("is refused for claims %s", (_, claims, message) => {
    expect(problems(fileOf({ claims }))).toEqual([`${message}.`]);
  });
});

// RG-124
describe("an operator of an issuer that gives tokens to everybody", () => {
  test("needs a claim that names an owner at the issuer", () => {
    const message =
      "operators[0].claims must have at least one of the claims repository, repository_id, repository_owner, repository_owner_id and sub: everybody can get tokens of OPERATOR_ISSUER.";
    for (const claims of [{ ref: "refs/heads/main" }, { actor: "ada", environment: "production" }]) {
      expect(problems(fileOf({ claims }), { issuer: GITHUB })).toEqual([message]);
    }
    for (const claims of [{ repository: "acme/widgets" }, { ref: "refs/heads/main", repository_id: "7" }]) {
      expect(problems(fileOf({ claims }), { issuer: GITHUB })).toEqual([]);
    }
  });
});

// RG-126
describe("two operators", () => {
  const never = (index: number, first: number) =>
    `operators[${index}] is never used, because its tokens also match operators[${first}], which comes first: put the operator with more claims first, or change the claims.`;

  test("are refused if every token of the second operator also matches the first", () => {
    const wide = { claims: { groups: "staff" } };
    const narrow = { claims: { team: "widgets", groups: "staff" } };
    expect(problems(fileOf(wide, wide))).toEqual([never(1, 0)]);
    expect(problems(fileOf(wide, narrow))).toEqual([never(1, 0)]);
    expect(problems(fileOf(narrow, wide))).toEqual([]);
    expect(problems(fileOf(wide, { claims: { groups: "others" } }))).toEqual([]);
    expect(problems(fileOf({ ...wide, expires_at: "2027-01-01T00:00:00Z" }, wide))).toEqual([]);
  });
});

// RG-124
describe("a token fits the claims of an operator only as specified:", () => {
  const fits = (wanted: Record<string, string>, token: Record<string, unknown>) =>
    fitsClaims({ pairs: Object.entries(wanted) }, token);

  test.each<[string, Record<string, string>, Record<string, unknown>, boolean]>([
    ["with the value", { repository: "acme/w" }, { repository: "acme/w", ref: "x" }, true],
    ["with the value in another case", { repository: "acme/w" }, { repository: "Acme/w" }, false],
    ["with one of two claims", { a: "1", b: "2" }, { a: "1" }, false],
    ["with a list that has the value", { groups: "b" }, { groups: ["a", "b"] }, true],
    ["with a list in a list", { groups: "b" }, { groups: [["b"]] }, false],
    ["with true", { email_verified: "true" }, { email_verified: true }, true],
    ["with a number above the safe integers", { id: "9007199254740992" }, { id: 2 ** 53 }, false],
    ["with a nested claim", { "realm_access.roles": "a" }, { realm_access: { roles: ["a"] } }, true],
    [
      "with another value of the claim, and a nested claim of the same name",
      { "a.b": "1" },
      { "a.b": "2", a: { b: "1" } },
      false,
    ],
    ["with a name that leads to the prototype", { "__proto__.x": "1" }, JSON.parse('{"y":1}'), false],
  ])("%s", (_, wanted, token, fitting) => {
    expect(fits(wanted, token)).toBe(fitting);
  });
});

// RG-123
describe("the variables of the operators' identity provider", () => {
  const said = (config: Parameters<typeof checkOperatorProvider>[0]) =>
    checkOperatorProvider(config).map(({ variable, message }) => `${variable} ${message}`);
  const whole = {
    OPERATORS_FILE: "operators.yaml",
    OPERATOR_ISSUER: ISSUER,
    OPERATOR_JWKS_URI: `${ISSUER}/keys`,
    OPERATOR_AUDIENCE: "ostiary",
  };

  test("must be set together, with OPERATORS_FILE", () => {
    expect([said({}), said(whole), said({ ...whole, CONSOLE_CLIENT_ID: "console" })]).toEqual([[], [], []]);
    expect(said({ OPERATOR_AUDIENCE: "ostiary" })).toEqual([
      "OPERATOR_ISSUER is required if OPERATOR_AUDIENCE is set.",
      "OPERATOR_JWKS_URI is required if OPERATOR_AUDIENCE is set.",
      "OPERATORS_FILE is required if OPERATOR_ISSUER is set: the file lists the claims of each operator.",
    ]);
  });

  test("are required by CONSOLE_CLIENT_ID, and the issuer must be an HTTP URL", () => {
    expect(said({ CONSOLE_CLIENT_ID: "console" })).toEqual([
      "CONSOLE_CLIENT_ID has no effect without OPERATOR_ISSUER: set both.",
    ]);
    expect(said({ ...whole, OPERATOR_ISSUER: "urn:issuer", CONSOLE_CLIENT_ID: "console" })).toEqual([
      "OPERATOR_ISSUER must be an http:// or https:// URL without query and fragment if CONSOLE_CLIENT_ID is set.",
    ]);
  });
});
