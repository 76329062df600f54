/** Tests of the release notes, which are a section of the changelog. */
import { describe, expect, test } from "bun:test";
import { notesIn } from "../../release/notes.ts";

const CHANGELOG =
  "# Changelog\n\n## 1.10.0\n\nNew.\n\n### Removed\n\n- Old.\n\n## 1.1.0\n\n## 1.0.0\n\nFirst.\n";

describe("the notes of a release", () => {
  test("are the section of its version, up to the next version", () => {
    expect(notesIn(CHANGELOG, "1.10.0")).toBe("New.\n\n### Removed\n\n- Old.\n");
    expect(notesIn(CHANGELOG, "1.0.0")).toBe("First.\n");
  });

  test.each(["1.1.0", "1.1", "2.0.0", ""])(
    "do not exist for %j, whose section is missing or empty",
    (version) => {
      expect(() => notesIn(CHANGELOG, version)).toThrow(`has no section "## ${version}" with text`);
    },
  );
});
