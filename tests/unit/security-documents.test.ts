/** Checks that the security documents are complete. documents/links.test.ts checks that named files exist. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "../support/root.ts";

const read = (name: string) => Bun.file(join(ROOT, ".github", name)).text();
const names = ["security/threat-model.md", "security/asvs.md"];
const documents = await Promise.all(names.map(async (name) => ({ name, text: await read(name) })));

/** Returns the rows of a document's tables, each as a list of cells, without the head rows. */
function rowsOf(text: string): string[][] {
  const lines = text.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| ---"));
  const cells = lines.map((line) =>
    line
      .slice(2, -1)
      .split(" | ")
      .map((cell) => cell.trim()),
  );
  return cells.filter(([first]) => /^([STRIDE]|\d+\.\d+\.\d+)$/.test(first ?? ""));
}
const textOf = (wanted: string) => documents.find(({ name }) => name === wanted)?.text ?? "";
const testsIn = (text: string) => [...text.matchAll(/`(tests\/[^`]+)`/g)].map(([, file]) => file ?? "");

describe("the threat model", () => {
  const threats = rowsOf(textOf("security/threat-model.md"));

  test("has threats of each STRIDE kind", () => {
    expect(new Set(threats.map(([kind]) => kind))).toEqual(new Set(["S", "T", "R", "I", "D", "E"]));
  });

  test.each(threats)("%s: %s has a countermeasure and a test", (_, __, done = "") => {
    expect(done).not.toStartWith("`tests/");
    expect(testsIn(done)).not.toEqual([]);
  });
});

describe("the verification standard", () => {
  const points = rowsOf(textOf("security/asvs.md"));

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
