/** Checks that the security documents are complete. documents/links.test.ts checks that named files exist. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "../support/root.ts";

const read = (name: string) => Bun.file(join(ROOT, ".github", name)).text();
const names = ["security/threat-model.md", "security/asvs.md"];
const documents = await Promise.all(names.map(async (name) => ({ name, text: await read(name) })));

/** Returns what a pattern captures in each item of the lists of a document. */
function itemsOf(text: string, pattern: RegExp): string[][] {
  return text.split("\n").flatMap((line) => {
    const found = pattern.exec(line);
    return found === null ? [] : [found.slice(1)];
  });
}
const textOf = (wanted: string) => documents.find(({ name }) => name === wanted)?.text ?? "";
const testsIn = (text: string) => [...text.matchAll(/`(tests\/[^`]+)`/g)].map(([, file]) => file ?? "");

describe("the threat model", () => {
  const threats = itemsOf(textOf("security/threat-model.md"), /^- \*\*([STRIDE])\*\* (.+) _(.+)\._ (.+)$/);

  test("has threats of each STRIDE kind", () => {
    expect(new Set(threats.map(([kind]) => kind))).toEqual(new Set(["S", "T", "R", "I", "D", "E"]));
  });

  test.each(threats)("%s: %s has a countermeasure and a test", (_, __, done = "", tests = "") => {
    expect(done).not.toBe("");
    expect(testsIn(tests)).not.toEqual([]);
  });
});

describe("the verification standard", () => {
  const points = itemsOf(textOf("security/asvs.md"), /^- (\d+\.\d+\.\d+) ([a-z ]+): (.+)$/);

  /** The number of requirements in each section of ASVS 5.0. */
  const sections: Record<string, number> = {
    ...{ "4.1": 5, "4.2": 5, "4.3": 2, "4.4": 4 },
    ...{ "7.1": 3, "7.2": 4, "7.3": 2, "7.4": 5, "7.5": 3, "7.6": 2 },
    ...{ "8.1": 4, "8.2": 4, "8.3": 3, "8.4": 2, "9.1": 3, "9.2": 4 },
    ...{ "11.1": 4, "11.2": 5, "11.3": 5, "11.4": 3, "11.5": 2, "11.6": 2, "11.7": 2 },
    ...{ "16.1": 1, "16.2": 5, "16.3": 4, "16.4": 3, "16.5": 4 },
  };
  test("has a row for each requirement", () => {
    const wanted = Object.entries(sections).flatMap(([section, count]) =>
      Array.from({ length: count }, (_, index) => `${section}.${index + 1}`),
    );
    expect(points.map(([number]) => number)).toEqual(wanted);
  });

  test.each(points)("%s has a result and a reason", (_, result = "", how = "") => {
    expect(["met", "not applicable", "not met"]).toContain(result);
    expect(how).not.toBe("");
    if (result === "met") expect(testsIn(how)).not.toEqual([]);
  });

  test("has a correct summary", () => {
    const count = (result: string) => points.filter((point) => point[1] === result).length;
    expect(textOf("security/asvs.md")).toContain(
      `Met: ${count("met")}. Not applicable: ${count("not applicable")}. Not met: ${count("not met")}`,
    );
  });
});
