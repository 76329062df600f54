/** A second verifier, in Python and written from the format's page alone, agrees with the first one. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { fieldChanges, lineChanges } from "../../support/audit/proof-changes.ts";
import { givenOf, goodExports } from "../../support/audit/proof-exports.ts";
import { verify } from "../../support/audit/verify-lines.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { VECTORS } from "../../unit/verification/vectors.ts";

const VERIFIER = join(import.meta.dir, "verify.py");

function python(...parameters: string[]): unknown {
  const { stdout, stderr, exitCode } = Bun.spawnSync(["python3", VERIFIER, ...parameters]);
  if (exitCode !== 0) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString());
}

// AU-65, AU-146
describe.skipIf(Bun.which("python3") === null)("a verifier in Python agrees", () => {
  test("on the vectors", () => {
    expect(python("vectors", VECTORS)).toMatchObject({ complete: 8, undecided: 6, altered: 24 });
  });

  test("on every seventh change of every export", async () => {
    const vectors: object[] = [];
    for (const good of await goodExports()) {
      const given = await givenOf(good);
      const changes = [...fieldChanges(good.lines), ...lineChanges(good.lines)];
      for (const { what, lines } of changes.filter((_, index) => index % 7 === 0)) {
        const { result } = await verify(lines, given);
        vectors.push({ ...good, title: `${good.title}, ${what}`, lines, result });
      }
    }
    const file = join(temporaryFolder("proof"), "changes.ndjson");
    await Bun.write(file, vectors.map((vector) => `${JSON.stringify(vector)}\n`).join(""));
    const counts = Object(python("vectors", file));
    expect(counts.complete + counts.undecided + counts.altered).toBe(vectors.length);
  }, 300_000);
});
