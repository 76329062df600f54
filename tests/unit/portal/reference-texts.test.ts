/** Tests of how the API reference of the portal orders operations and shows the texts of a description. */
import { describe, expect, test } from "bun:test";
import { readDescription } from "../../../apps/portal/page/reference/description.ts";
import { groupsOf } from "../../../apps/portal/page/reference/groups.ts";
import { plainOf, proseOf } from "../../../apps/portal/page/reference/prose.ts";

describe("a text of a description", () => {
  // PT-42
  test("has paragraphs, emphasis, code, line breaks and links without their marks", () => {
    const text =
      "Reads `a` thing.\n\n**Callers:** see [roles](https://example.com/x).  \n**Limit:** 5\n- one\n- two";
    expect(proseOf(text)).toEqual([
      [
        { kind: "text", text: "Reads " },
        { kind: "code", text: "a" },
        { kind: "text", text: " thing." },
      ],
      [
        { kind: "strong", text: "Callers:" },
        { kind: "text", text: " see " },
        { kind: "text", text: "roles" },
        { kind: "text", text: "." },
        { kind: "break", text: "\n" },
        { kind: "strong", text: "Limit:" },
        { kind: "text", text: " 5" },
        { kind: "break", text: "\n" },
        { kind: "text", text: "- one" },
        { kind: "break", text: "\n" },
        { kind: "text", text: "- two" },
      ],
    ]);
    expect(plainOf("**Callers:** `x` in [y](z)")).toBe("Callers: x in y");
  });

  // PT-32
  test("stays text otherwise, and is read in linear time", () => {
    for (const text of ["<img src=x onerror=alert(1)>", "a * b ** c", "`", "[]()"])
      expect(plainOf(text)).toBe(text);
    expect(plainOf("[x](javascript:alert(1))")).toBe("x)");
    expect(proseOf("")).toEqual([]);
    for (const mark of ["**a", "`", "[", "[a](", "  \n", "*"]) {
      expect(plainOf(mark.repeat(20_000 / mark.length)).length).toBeLessThanOrEqual(20_000);
    }
  });
});

describe("the groups of the reference", () => {
  // PT-41
  test("begin with the services of the customer, and end with proof and plumbing", () => {
    const get = (operationId: string, tag?: string) => ({
      get: { operationId, "x-scope": "organization", ...(tag !== undefined && { tags: [tag] }) },
    });
    const description = readDescription(
      JSON.stringify({
        paths: {
          "/audit-log/checkpoint": get("a", "Proof"),
          "/edge/openapi.json": get("b", "registry"),
          "/org/members": get("c", "Members"),
          "/org/widgets": get("d", "Widgets"),
          "/members": get("e", "Members"),
          "/zoo": get("f", "Zoo"),
          "/plain": get("g"),
          "/org/widgets/{id}": get("h", "Widgets"),
        },
      }),
    );
    const groups = groupsOf(description?.operations ?? []);
    expect(groups.map(({ name, operations }) => [name, operations.map(({ id }) => id).join("")])).toEqual([
      ["Members", "e"],
      ["Widgets", "dh"],
      ["Zoo", "f"],
      ["", "g"],
      ["Members", "c"],
      ["Proof", "a"],
      ["registry", "b"],
    ]);
  });
});
