/** Tests of how the API reference of the portal orders operations and shows the texts of a description. */
import { describe, expect, test } from "bun:test";
import { groupsOf, plainOf, readDescription } from "../../../apps/portal/page/reference/description.ts";

// PT-42
test("a text of a description loses the marks of emphasis, code and links, and is read in linear time", () => {
  expect(plainOf("**Callers:** `x` in [y](z)\n- <img src=x>")).toBe("Callers: x in y\n- <img src=x>");
  for (const mark of ["**a", "`", "[", "[a](", "*"]) {
    expect(plainOf(mark.repeat(20_000 / mark.length)).length).toBeLessThanOrEqual(20_000);
  }
});

describe("the groups of the reference", () => {
  // PT-41
  test("begin with the services of the customer, and end with proof and plumbing", () => {
    const get = (operationId: string, tag?: string) => ({
      get: { operationId, "x-scope": "organization", ...(tag !== undefined && { tags: [tag] }) },
    });
    const description = readDescription({
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
    });
    const groups = groupsOf(description?.operations ?? []);
    expect(
      groups.map(([key, operations]) => [key.slice(2), operations.map(({ id }) => id).join("")]),
    ).toEqual([
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
