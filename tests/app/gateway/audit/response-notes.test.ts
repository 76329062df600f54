import { describe, expect, test } from "bun:test";
import { readResponseNotes } from "../../../../apps/gateway/audit/response-notes.ts";

const NOTHING = { details: null, created_id: null, organization_id: null, member_id: null };

function read(
  headers: Record<string, string>,
  scope: "user" | "organization" | "member" = "user",
  status = 200,
) {
  const warnings: string[] = [];
  const fields = Object.entries(headers).flatMap(([name, value]) => [`x-platform-audit-${name}`, value]);
  const notes = readResponseNotes(fields, scope, status, (header) => warnings.push(header));
  return { notes, warnings };
}

describe("audit headers of a response", () => {
  test("may be absent, without a note or a warning", () => {
    expect(read({})).toEqual({ notes: NOTHING, warnings: [] });
  });

  // GW-149, GW-150
  test("are all read from a 2xx response of a user route", () => {
    const all = {
      details: '{"name":{"from":"a","to":"\\u00e9"}}',
      created: "w1",
      organization: "o1",
      member: "m1",
    };
    expect(read(all)).toEqual({
      notes: {
        details: { name: { from: "a", to: "é" } },
        created_id: "w1",
        organization_id: "o1",
        member_id: "m1",
      },
      warnings: [],
    });
  });

  // GW-149
  test.each([200, 204, 302, 404, 500])(
    "include details and created, which are read for status %d of any audited route",
    (status) => {
      for (const scope of ["user", "organization", "member"] as const) {
        expect(read({ details: "{}", created: "w1" }, scope, status)).toEqual({
          notes: { ...NOTHING, details: {}, created_id: "w1" },
          warnings: [],
        });
      }
    },
  );
});

// GW-149
describe("details", () => {
  test.each([
    ["not JSON", "{"],
    ["a name twice", '{"ip":1,"ip":2}'],
    ["an object with the same name twice, spelled in two ways", '{"a":{"ip":1,"\\u0069p":2}}'],
    ["a whole number that a double changes", '{"amount":12345678901234567890}'],
    ["empty", ""],
    ["not ASCII", '{"a":"é"}'],
    ["two objects, of a repeated header", "{}, {}"],
    ["62 levels", `${'{"a":'.repeat(62)}1${"}".repeat(62)}`],
    ["600 levels", `{"a":${"[".repeat(599)}${"]".repeat(599)}}`],
    ["4097 bytes", `{"a":"${"x".repeat(4_089)}"}`],
  ])("that are %s become null with a warning", (_, details) => {
    expect(read({ details, created: "w1" })).toEqual({
      notes: { ...NOTHING, created_id: "w1" },
      warnings: ["x-platform-audit-details"],
    });
  });

  test("may have 61 levels, so that the objects around them can add three more", () => {
    const details = `{"a":${"[".repeat(60)}${"]".repeat(60)}}`;
    expect(read({ details }).notes.details).toEqual(JSON.parse(details));
  });

  test("of 4096 bytes are accepted", () => {
    const value = "x".repeat(4_088);
    expect(read({ details: `{"a":"${value}"}` }).notes.details).toEqual({ a: value });
  });
});

// GW-149
describe("ids", () => {
  const bad = ["", "a/b", "a, b", "..", "é", "x".repeat(129)];

  test.each(bad)("created %p is ignored with a warning", (created) => {
    expect(read({ created })).toEqual({ notes: NOTHING, warnings: ["x-platform-audit-created"] });
  });

  test.each(bad)("a pair with %p is ignored as a whole, with a warning", (id) => {
    expect(read({ organization: id, member: "m1" })).toEqual({
      notes: NOTHING,
      warnings: ["x-platform-audit-organization"],
    });
    expect(read({ organization: "o1", member: id })).toEqual({
      notes: NOTHING,
      warnings: ["x-platform-audit-member"],
    });
  });

  test("of 128 bytes are accepted", () => {
    expect(read({ created: "x".repeat(128) }).notes.created_id).toBe("x".repeat(128));
  });
});

// GW-150
describe("the organization pair", () => {
  const pair = { organization: "o1", member: "m1" };

  test.each([200, 201, 299])("is read on status %d of a user route", (status) => {
    expect(read(pair, "user", status).notes).toMatchObject({ organization_id: "o1", member_id: "m1" });
  });

  test.each([199, 300, 302, 404, 500])("is ignored on status %d with a warning", (status) => {
    const { notes, warnings } = read(pair, "user", status);
    expect(notes).toEqual(NOTHING);
    expect(warnings).toHaveLength(1);
  });

  test.each(["organization", "member"] as const)("is ignored on scope %s with a warning", (scope) => {
    const { notes, warnings } = read(pair, scope);
    expect(notes).toEqual(NOTHING);
    expect(warnings).toHaveLength(1);
  });

  test.each(["organization", "member"])("needs both headers: %s alone is ignored with a warning", (half) => {
    const { notes, warnings } = read({ [half]: "id1" });
    expect(notes).toEqual(NOTHING);
    expect(warnings).toHaveLength(1);
  });
});
