import { expect, test } from "bun:test";
import { join } from "node:path";
import { reportLines } from "../../../apps/cli/verify/report.ts";
import { verify } from "../../app/audit/proof-bed.ts";

const vectors = await Bun.file(join(import.meta.dir, "../../conformance/audit-proof/vectors.json")).json();

// AU-138
test("the verification report lists the valid statements, with their numbers and what they correct", async () => {
  const { lines, keys } = vectors.exports.find(
    ({ title }: { title: string }) => title === "statements: a month and its correction",
  );
  const verdict = await verify(lines.map((line: string) => `${line}\n`).join(""), keys);
  expect(reportLines(verdict)).toContain(
    "  statement    of 2026-01 (2026-01.2, which corrects 2026-01.1): 300 requests, 18 refused, 3 failed, 156 000 bytes in, 25 200 000 bytes out",
  );
  const [first] = verdict.statements;
  if (first === undefined) throw new Error("The verdict has no statement.");
  const many = Array.from({ length: 30 }, (_, month) => ({
    ...first,
    month: `${2000 + month}-01`,
    corrects: null,
  }));
  const shown = reportLines({ ...verdict, statements: many });
  expect(shown.filter((line) => line.startsWith("  statement"))).toHaveLength(20);
  expect(shown.find((line) => line.startsWith("  statement"))).toContain("of 2029-01: 300 requests");
  expect(shown).toContain("  and 10 more");
});
