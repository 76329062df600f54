import { describe, expect, test } from "bun:test";
import { ConfigError } from "@ostiary/lib/runtime/config";
import { loadRolesFile, parseRolesFile } from "@ostiary/lib/runtime/config/roles-file";
import { createRoles } from "../../../apps/identity/roles/configured-roles.ts";
import { thrownBy } from "../../support/thrown.ts";

const good = `roles:
  owner: ["*"]
  admin: [org:write, "org:members:write"]
  viewer: []
creator_role: owner
default_role: viewer
`;

function problems(text: string): string[] {
  const error = thrownBy(ConfigError, () => parseRolesFile(text));
  return (error?.problems ?? []).map(({ variable, message }) => {
    expect(variable).toBe("ROLES_FILE");
    return message;
  });
}

// ID-70, ID-71
describe("a roles file that is accepted", () => {
  test("yields slugs, labels and the three default roles", () => {
    const roles = createRoles(parseRolesFile(good));
    expect(roles.slugs).toEqual(["admin", "owner", "viewer"]);
    expect(roles.labelsOf("owner")).toEqual(["*"]);
    expect(roles.labelsOf("admin")).toEqual(["org:write", "org:members:write"]);
    expect(roles.labelsOf("viewer")).toEqual([]);
    expect(roles.labelsOf("gone")).toEqual([]);
    expect(roles.labelsOf(null)).toEqual([]);
    expect([roles.creator, roles.forMembers, roles.forServiceAccounts]).toEqual([
      "owner",
      "viewer",
      "viewer",
    ]);
  });

  test("may name its own role for service accounts", () => {
    const roles = createRoles(parseRolesFile(`${good}service_account_default_role: admin\n`));
    expect(roles.forServiceAccounts).toBe("admin");
  });

  test("may be JSON, and have slugs and labels of every allowed form and length", () => {
    const long = "a".repeat(64);
    const labels = Array.from({ length: 64 }, (_, index) => `label-${index}`);
    const file = {
      roles: { [long]: labels, "0:._-": [long], constructor: ["a"] },
      creator_role: long,
      default_role: "constructor",
    };
    const roles = createRoles(parseRolesFile(JSON.stringify(file)));
    expect(roles.labelsOf(long)).toEqual(labels);
    expect(roles.labelsOf("constructor")).toEqual(["a"]);
    expect(roles.labelsOf("toString")).toEqual([]);
  });

  test("is optional: without one, everybody has all labels and no role", () => {
    const roles = createRoles(null);
    expect(roles.labelsOf("owner")).toEqual(["*"]);
    expect(roles.labelsOf(null)).toEqual(["*"]);
    expect([roles.shown("owner"), roles.creator, roles.forMembers, roles.forServiceAccounts]).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });
});

// ID-70, ID-71
describe("the check of a roles file", () => {
  const withViewer = (labels: string) => good.replace("viewer: []", `viewer:${labels}`);
  const refusals: [what: string, text: string, message: string | RegExp][] = [
    ["an empty file", "", "line 1: The file must be a map with roles, creator_role and default_role."],
    ["a list", "- a", "line 1: The file must be a map with roles, creator_role and default_role."],
    ["text", "roles", "line 1: The file must be a map with roles, creator_role and default_role."],
    ["no roles", "creator_role: a\ndefault_role: a\n", /^line 1: roles is required/],
    ["empty roles", good.replace(/roles:\n(.*\n){3}/, "roles: {}\n"), /^line 1: roles must map at least/],
    ["no creator_role", good.replace(/creator_role.*\n/, ""), /^line 1: creator_role is required/],
    ["no default_role", good.replace(/default_role.*\n/, ""), /^line 1: default_role is required/],
    [
      "an unknown creator_role",
      good.replace("creator_role: owner", "creator_role: boss"),
      "line 5: creator_role names boss, which is not a role under roles.",
    ],
    [
      "an unknown default_role",
      good.replace("default_role: viewer", "default_role: guest"),
      "line 6: default_role names guest, which is not a role under roles.",
    ],
    [
      "an unknown service_account_default_role",
      `${good}service_account_default_role: bot\n`,
      "line 7: service_account_default_role names bot, which is not a role under roles.",
    ],
    ["an unknown key", `${good}extra: 1\n`, "line 7: extra is not a known field: remove the field."],
    [
      "a slug with capitals",
      good.replace("  admin:", "  Admin:"),
      /^line 3: the slug "Admin" must be 1 to 64 characters/,
    ],
    ["a slug of 65 characters", good.replace("  admin:", `  ${"a".repeat(65)}:`), /^line 3: the slug "a+"/],
    ["labels that are not a list", withViewer(" org:write"), /^line 4: roles.viewer must be a list/],
    ["labels that are null", withViewer(""), /^line 4: roles.viewer must be a list/],
    ["a space in a label", withViewer("\n    - a\n    - b c"), /^line 6: roles.viewer\[1\] must be 1 to 64/],
    ["a label of 65 characters", withViewer(` [${"a".repeat(65)}]`), /^line 4: roles.viewer\[0\]/],
    ["a label that is a number", withViewer(" [7]"), /^line 4: roles.viewer\[0\]/],
    ["an empty label", withViewer(' [""]'), /^line 4: roles.viewer\[0\]/],
    [
      "65 labels",
      withViewer(` [${Array.from({ length: 65 }, (_, i) => `l${i}`).join(", ")}]`),
      /^line 4: roles.viewer must be a list of at most 64 labels/,
    ],
    ["a label twice", withViewer("\n    - a\n    - a"), "line 6: roles.viewer lists a twice."],
    ["* beside others", good.replace('["*"]', '[a, "*"]'), /^line 2: roles.owner lists \* with other labels/],
    ["a key twice", good.replace("  admin:", "  owner:"), "line 3: a key occurs twice in one map."],
    ["broken YAML", "roles: [", /^line 1: The YAML is not valid/],
    ["a custom tag", withViewer(" !js []"), "line 4: The custom tag is not accepted."],
  ];

  test.each(refusals)("refuses %s", (_, text, message) => {
    expect(problems(text)).toEqual([typeof message === "string" ? message : expect.stringMatching(message)]);
  });

  test("reports no problem twice, and at most a hundred problems", () => {
    expect(problems(`roles: ${"[".repeat(5_000)}`)).toEqual([
      "line 1: The YAML is nested more than 64 levels deep: flatten it.",
    ]);
    const slugs = Array.from({ length: 300 }, (_, index) => `  R${index}: []\n`).join("");
    expect(problems(`roles:\n${slugs}creator_role: a\ndefault_role: a\n`)).toHaveLength(100);
  });

  test("reports violations of the schema and of other rules together", () => {
    const text = `roles:
  Owner: ["*"]
  Admin: [org:write, org:write]
  viewer: [a, a, "*"]
  viewer: [a, a]
  bad label: [x y]
creator_role: owner
default_role: guest
extra: 1
`;
    expect(problems(text)).toEqual([
      "line 5: a key occurs twice in one map.",
      "line 9: extra is not a known field: remove the field.",
      ...["Owner", "Admin", "bad label"].map((slug) =>
        expect.stringContaining(`the slug "${slug}" must be 1 to 64 characters`),
      ),
      "line 3: roles.Admin lists org:write twice.",
      "line 5: roles.viewer lists a twice.",
      "line 7: creator_role names owner, which is not a role under roles.",
      "line 8: default_role names guest, which is not a role under roles.",
    ]);
  });

  test("names the path of a file that cannot be read", () => {
    const load = () => loadRolesFile("/nowhere/roles.yaml");
    expect(load).toThrow(ConfigError);
    expect(load).toThrow("ROLES_FILE names /nowhere/roles.yaml, which cannot be read.");
  });
});
