/** Checks that every place where people choose a role says which labels are worth as much as owner. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { loadRolesFile } from "@ostiary/lib/runtime/config/roles-file";
import { de } from "../../../apps/portal/page/texts/de.ts";
import { en } from "../../../apps/portal/page/texts/en.ts";
import { ROOT } from "../../support/root.ts";

const ASSIGNING = ["org:members:write", "org:service-accounts:write"] as const;

const { roles } = loadRolesFile(join(ROOT, "seeds/roles.yaml"));
const guide = await Bun.file(join(ROOT, ".github/guides/choosing-roles.md")).text();

describe("a label that lets its holder assign roles", () => {
  test.each(ASSIGNING)("is described in the portal as worth owner: %s", (label) => {
    expect(en.roles.labels[label]).toContain("also owner");
    expect(de.roles.labels[label]).toContain("auch owner");
  });

  test("is named in the guide and in the threat model", async () => {
    const threats = await Bun.file(join(ROOT, ".github/security/threat-model.md")).text();
    for (const label of ASSIGNING) {
      expect(guide).toContain(label);
      expect(threats).toContain(label);
    }
  });
});

test.each([...roles])("the guide says whether the shipped role can become owner: %s", (role, labels) => {
  const row = guide.split("\n").find((line) => line.startsWith(`| \`${role}\``)) ?? "";
  const says = row.includes("**yes**") || row.includes("it is ");
  expect(says).toBe(labels.includes("*") || ASSIGNING.some((label) => labels.includes(label)));
});
