import { describe, expect, test } from "bun:test";
import { ConfigError } from "@ostiary/lib/runtime/config";
import {
  type OperatorsContext,
  parseOperatorsFile,
  sha256Of,
} from "@ostiary/lib/runtime/config/operators-file";
import { thrownBy } from "../../support/thrown.ts";

const HASH = sha256Of("one");
const OTHER = sha256Of("two");

const GOOD = `operators:
  - name: ada@example.com
    role: admin
    token_sha256: ["${HASH}"]
  - name: ci/widgets
    role: publisher
    token_sha256:
      - "${OTHER}"
      - { sha256: "${sha256Of("three")}", expires_at: 2027-01-31T12:00:00Z }
    expires_at: 2027-06-30T00:00:00+02:00
    services: [widgets, widgets-*]
    paths: [/org/widgets, "/teams/{team}/widgets"]
    urls: ["http://*.widgets.internal:*", "http://10.0.0.7:8080"]
  - name: docs
    role: reader
    token_sha256: ["${sha256Of("four")}"]
`;

function problems(text: string, context: OperatorsContext = {}): string[] {
  const error = thrownBy(ConfigError, () => parseOperatorsFile(text, context));
  return (error?.problems ?? []).map(({ variable, message }) => {
    expect(variable).toBe("OPERATORS_FILE");
    return message;
  });
}

// RG-111, RG-112
describe("an operators file that is accepted", () => {
  test("yields each operator with its bounds and the expiry of its tokens", () => {
    const [ada, ci, docs] = parseOperatorsFile(GOOD);
    expect(ada).toEqual({
      operator: { name: "ada@example.com", role: "admin", services: null, paths: null, urls: null },
      endsMs: null,
      tokens: [{ sha256: HASH, endsMs: null }],
      claims: null,
    });
    expect(ci?.operator).toEqual({
      name: "ci/widgets",
      role: "publisher",
      services: ["widgets", "widgets-*"],
      paths: ["/org/widgets", "/teams/{team}/widgets"],
      urls: ["http://*.widgets.internal:*", "http://10.0.0.7:8080"],
    });
    expect(ci?.tokens.map(({ endsMs }) => endsMs)).toEqual([
      Date.parse("2027-06-29T22:00:00Z"),
      Date.parse("2027-01-31T12:00:00Z"),
    ]);
    expect(docs?.operator).toMatchObject({ role: "reader", services: [], paths: [], urls: [] });
  });

  // RG-153
  test("may have a publisher without urls, who sets no address", () => {
    expect(parseOperatorsFile(oneOperator({}))[0]?.operator).toMatchObject({ paths: ["/w"], urls: [] });
  });
});

/** Returns a file with one operator. `fields` replaces its fields; the value undefined removes a field. */
function oneOperator(fields: Record<string, unknown>): string {
  const operator = {
    name: "ci",
    role: "publisher",
    token_sha256: [HASH],
    services: ["widgets"],
    paths: ["/w"],
    ...fields,
  };
  return JSON.stringify({ operators: [operator] });
}

const TOKEN_RULE = "must be the SHA-256 of a token: 64 lower-case hexadecimal digits, in quotes";

// RG-111
describe("the check of an operators file", () => {
  const files: [what: string, text: string, message: string][] = [
    ["an empty file", "", "The file must be a map with the key operators"],
    ["broken YAML", "operators: [", "The YAML is not valid: a bracket or brace is not closed"],
    ["a tag", "operators: !!js/function 'x'", "The custom tag is not accepted"],
    ["operators that are not a list", "operators: yes", "operators must be a list of at most 1000 operators"],
    [
      "an operator that is text",
      "operators: [ci]",
      "operators[0] must be a map with name, role, and token_sha256 or claims",
    ],
  ];
  /** Refused operators: what is wrong, the fields, and the part of the message after `operators[0]`. */
  const operators: [what: string, fields: Record<string, unknown>, message: string][] = [
    [
      "no name",
      { name: undefined },
      ".name is required and must be 1 to 128 characters: letters, digits and ._@/+-",
    ],
    ["a name with a space", { name: "c i" }, ".name must be 1 to 128 characters: letters, digits and ._@/+-"],
    [
      "the name admin, which belongs to ADMIN_TOKEN",
      { name: "admin" },
      ".name is admin, the operator of ADMIN_TOKEN: choose another name",
    ],
    ["a role in capitals", { role: "Admin" }, ".role must be reader, publisher or admin"],
    ["no token", { token_sha256: undefined }, " has neither token_sha256 nor claims: add one of them"],
    [
      "nine tokens",
      { token_sha256: Array.from({ length: 9 }, (_, index) => sha256Of(`${index}`)) },
      ".token_sha256 must be a list of 1 to 8 hashes of tokens",
    ],
    ["a token in place of its hash", { token_sha256: ["hunter2"] }, `.token_sha256[0] ${TOKEN_RULE}`],
    [
      "the same token twice",
      { token_sha256: [HASH, HASH] },
      ".token_sha256[1] is the token of operators[0]: give each operator its own token",
    ],
    [
      "an expiry that is not a time",
      { expires_at: "tomorrow" },
      ".expires_at must be an RFC 3339 time of the years 1 to 9999 in UTC, such as 2026-01-31T12:00:00Z",
    ],
    ["a publisher without services", { services: undefined }, ".services is required for a publisher"],
    ["a publisher without paths", { paths: undefined }, ".paths is required for a publisher"],
    [
      "a reader with paths",
      { role: "reader", services: undefined },
      ".paths is only for publishers: remove paths",
    ],
    ["a star as a path", { paths: ["*"] }, ".paths[0]: A path must start with `/`"],
    ["an empty list of urls", { urls: [] }, ".urls must be a list of 1 to 100 patterns of addresses"],
    [
      "a bare star as a host",
      { urls: ["http://w:80", "http://*:80"] },
      ".urls[1] must be `http://host:port`, in which `*` can stand for the port, or for the first label of a name, as in `http://*.widgets.internal:*`",
    ],
    ["an unknown field", { tokens: [] }, ".tokens is not a known field: remove the field"],
  ];
  const all = [...files];
  for (const [what, fields, message] of operators)
    all.push([what, oneOperator(fields), `operators[0]${message}`]);
  test.each(all)("refuses %s", (_, text, message) => {
    const said = problems(text).map((problem) => problem.replace(/^line \d+: /, ""));
    expect(said).toEqual([`${message}.`]);
  });

  test("reports every problem with its line", () => {
    const text = `operators:
  - name: a
    role: reader
    token_sha256: ["${HASH}"]
  - name: a
    role: publisher
    token_sha256: ["${HASH}"]
    services: [w]
    paths: [/W]
`;
    expect(problems(text)).toEqual([
      "line 9: operators[1].paths[0]: The full path `/W` is not canonical: the canonical form is `/w`.",
      "line 5: operators[1].name is a, the name of an earlier operator: choose another name.",
      "line 7: operators[1].token_sha256[0] is the token of operators[0]: give each operator its own token.",
    ]);
  });
});
