import { describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { checkWitnesses } from "@ostiary/audit/witnesses";
import { writeKeyFile } from "../../app/audit/proof-bed.ts";
import { publicBytes, verifierKeyText } from "../../support/audit/test-log.ts";

describe("a file of witnesses", () => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const key = verifierKeyText("witness.example.com", 4, publicBytes(privateKey));
  const renamed = verifierKeyText("other.example.com", 4, publicBytes(privateKey));
  const other = verifierKeyText(
    "other.example.com",
    4,
    publicBytes(generateKeyPairSync("ed25519").privateKey),
  );
  const logKey = verifierKeyText("log.example.com", 1, publicBytes(privateKey));
  const one = { name: "w1", url: "https://witness.example.com", key };
  const check = (text: string, changes: object = {}) =>
    checkWitnesses({ AUDIT_WITNESSES_FILE: writeKeyFile(text), AUDIT_SIGNING_KEY_FILE: "key", ...changes });
  const list = (...witnesses: object[]) => JSON.stringify({ witnesses });

  // AU-170
  test("may list several witnesses, and the quorum may be their number", () => {
    const two = { ...one, name: "w2", key: other };
    expect(check(list(one, two), { AUDIT_WITNESS_QUORUM: 2 })).toEqual([]);
    const problems = check(list(one, two), { AUDIT_WITNESS_QUORUM: 3 });
    expect(problems.map(({ variable }) => variable)).toEqual(["AUDIT_WITNESS_QUORUM"]);
  });

  // AU-170
  test("needs a signing key", () => {
    expect(check(list(one), { AUDIT_SIGNING_KEY_FILE: undefined })).toEqual([
      { variable: "AUDIT_SIGNING_KEY_FILE", message: "is required if AUDIT_WITNESSES_FILE is set." },
    ]);
  });

  // AU-170
  test.each([
    ["", "must be a map with the key witnesses"],
    ["witnesses: [", "The YAML is not valid"],
    [list(), "witnesses must be a list of 1 to 32 witnesses"],
    [JSON.stringify({ witnesses: [one], more: 1 }), "more is not a known field"],
    [list({ ...one, more: 1 }), "witnesses[0].more is not a known field"],
    ...["name", "url", "key"].map((field) => [
      list({ ...one, [field]: undefined }),
      `witnesses[0].${field} is required`,
    ]),
    ...["name", "url", "key"].map((field) => [list({ ...one, [field]: 7 }), `witnesses[0].${field} must be`]),
    [list({ ...one, name: "a b" }), "witnesses[0].name must be 1 to 64"],
    [list({ ...one, url: "http://witness.example.com" }), "witnesses[0].url must be an https:// URL"],
    [
      list({ ...one, url: "https://u:p@witness.example.com" }),
      "witnesses[0].url must not contain a user name",
    ],
    [list({ ...one, url: "https://witness.example.com?a=1" }), "witnesses[0].url must not have a query"],
    [list({ ...one, key: "x" }), "witnesses[0].key must be the verifier key of a witness"],
    [list({ ...one, key: logKey }), "witnesses[0].key is the key of a log"],
    [list(one, { ...one, key: other }), "witnesses[1].name occurs twice"],
    [list(one, { ...one, name: "w2" }), "witnesses[1].key occurs twice"],
    [list(one, { ...one, name: "w2", key: renamed }), "witnesses[1].key occurs twice"],
  ])("is refused: %j", (text = "", message = "") => {
    const problems = check(text);
    expect(problems.every(({ variable }) => variable === "AUDIT_WITNESSES_FILE")).toBe(true);
    expect(problems.map((problem) => problem.message).join("\n")).toContain(message);
  });

  // AU-170
  test("is refused when it does not exist", () => {
    const problems = checkWitnesses({
      AUDIT_WITNESSES_FILE: "/nowhere/w.yaml",
      AUDIT_SIGNING_KEY_FILE: "key",
    });
    expect(problems[0]?.message).toContain("cannot be read");
  });
});
