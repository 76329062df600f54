import { describe, expect, test } from "bun:test";
import { ValidationResult } from "@ostiary/lib/contracts/admission";
import {
  displayPrefix,
  formatCredential,
  hashCredential,
  isBrand,
  parseCredential,
} from "@ostiary/lib/domain/credentials";
import { Value } from "@sinclair/typebox/value";
import fc from "fast-check";
import { runs } from "../../support/runs.ts";

const SECRET = "abcdEFGH0123-_-_abcdEFGH0123-_-_abcdEFGH012";

describe("a credential string", () => {
  // ID-77, ID-79
  test.each([
    [`acme-k-2-${SECRET}`, { brand: "acme", kind: "k", version: 2, displayPrefix: "acme-k-2-abcd" }],
    [`acme-s-2-${SECRET}`, { brand: "acme", kind: "s", version: 2, displayPrefix: "acme-s-2-abcd" }],
    [`acme-sk-1-${SECRET}`, { brand: "acme", kind: "sk", version: 1, displayPrefix: "acme-sk-1-abcd" }],
    [`acme-mk-1-${SECRET}`, { brand: "acme", kind: "mk", version: 1, displayPrefix: "acme-mk-1-abcd" }],
    [`a9-ms-1-${SECRET}`, { brand: "a9", kind: "ms", version: 1, displayPrefix: "a9-ms-1-abcd" }],
    [
      `${"b".repeat(32)}-k-2-${"-".repeat(43)}`,
      { brand: "b".repeat(32), kind: "k", version: 2, displayPrefix: `${"b".repeat(32)}-k-2-----` },
    ],
  ] as const)("%s is parsed", (text, parsed) => {
    expect(parseCredential(text)).toEqual(parsed);
    expect(displayPrefix(text)).toBe(parsed.displayPrefix);
  });

  test.each([
    ["a JWT", "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"],
    ["a brand of 33 characters", `${"b".repeat(33)}-k-2-${SECRET}`],
    ["a trailing line break", `acme-k-2-${SECRET.slice(1)}\n`],
    ["a letter that folds to ASCII", `acme-k-2-${SECRET.slice(1)}\u212a`],
    ["a megabyte", "a".repeat(1_000_000)],
    ["a megabyte of hyphens", `a${"-".repeat(1_000_000)}`],
  ])("%s is not a credential", (_, text) => {
    expect(parseCredential(text)).toBeNull();
    expect(displayPrefix(text)).toBeNull();
  });

  const brand = fc.stringMatching(/^[a-z][a-z0-9]{0,31}$/);
  const secret = fc.uint8Array({ minLength: 32, maxLength: 32 });

  // ID-80
  test("is parsed back after it is formatted, and its display prefix has four characters of the secret", () => {
    fc.assert(
      fc.property(brand, fc.constantFrom("k" as const, "s" as const), secret, (name, kind, bytes) => {
        const text = formatCredential(name, kind, bytes);
        const parsed = parseCredential(text);
        expect(parsed).toMatchObject({ brand: name, kind, version: 2 });
        expect(parsed?.displayPrefix).toBe(text.slice(0, text.length - 39));
        expect(Buffer.from(text.slice(-43), "base64url")).toEqual(Buffer.from(bytes));
      }),
    );
  });

  // ID-77
  test("is parsed exactly if it has one of the specified forms", () => {
    const form = /^[a-z][a-z0-9]{0,31}-(?:[ks]-2|(?:sk|mk|ms)-1)-[A-Za-z0-9_-]{43}$/;
    const piece = fc.constantFrom(..."a acme - k s sk ms 1 2 A _ = é".split(" "), SECRET, SECRET.slice(1));
    const valid = fc
      .tuple(brand, fc.constantFrom("k-2", "s-2", "sk-1", "mk-1", "ms-1"))
      .map(([b, f]) => `${b}-${f}-${SECRET}`);
    const broken = fc
      .tuple(valid, fc.nat(90), fc.string({ maxLength: 2 }))
      .map(([t, at, s]) => t.slice(0, at) + s + t.slice(at + 1));
    const any = fc.oneof(
      fc.string(),
      fc.array(piece, { maxLength: 9 }).map((pieces) => pieces.join("")),
      valid,
      broken,
    );
    fc.assert(
      fc.property(any, (text) => {
        expect(parseCredential(text) !== null).toBe(form.test(text) && !text.endsWith("\n"));
      }),
      { numRuns: runs(5000) },
    );
  });
});

// ID-78
test.each([
  ["a", true],
  ["acme2", true],
  ["b".repeat(32), true],
  ["b".repeat(33), false],
  ["", false],
  ["2acme", false],
  ["Acme", false],
  ["ac-me", false],
  ["acmé", false],
])("%j is a brand: %p", (brand, expected) => {
  expect(isBrand(brand)).toBe(expected);
});

// ID-81
test("the hash is the SHA-256 of the whole string, in hex", () => {
  expect(hashCredential("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

describe("the schema of a validation's result", () => {
  const member = { valid: true, realm: "organization", organization_id: "o", member_id: "m" };

  test.each([
    ["invalid", { valid: false }, true],
    ["a person", { valid: true, realm: "directory", user_id: "u" }, true],
    ["a member", { ...member, labels: ["a"] }, true],
    ["a member with a session", { ...member, labels: [], expires_at: "2026-01-01T00:00:00.000Z" }, true],
    ["a member without labels", member, true],
    ["fields of a later version", { ...member, region: "eu" }, true],
    ["a person without an id", { valid: true, realm: "directory" }, false],
    ["a member without an organization", { valid: true, realm: "organization", member_id: "m" }, false],
    ["labels that are not strings", { ...member, labels: [1] }, false],
    ["an unknown realm", { ...member, realm: "planet" }, false],
    ["valid that is not a boolean", { ...member, valid: 1 }, false],
  ])("accepts only a result with the fields of its realm: %s", (_, body, expected) => {
    expect(Value.Check(ValidationResult, body)).toBe(expected);
  });
});
