import { beforeAll, describe, expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { KEY, OLD_KEY, SECOND_WITNESS, twoDays, WITNESS } from "../../support/audit/proof-exports.ts";
import { LogBuilder, logKeyText, OWNER, witnessKeyText } from "../../support/audit/proof-log.ts";
import { useCli } from "./bed.ts";

const textOf = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");

// AU-76
describe("audit verify", () => {
  const { cli, cliProcess, file, directory } = useCli();
  const log = twoDays();
  let text: string;
  let path: string;
  const verify = (...parameters: string[]) => cli(["audit", "verify", path, ...parameters]);

  beforeAll(async () => {
    text = textOf(await log.export(OWNER, { root: 3, cosigned: await log.note(4, [WITNESS]) }));
    path = await file("log.ndjson", text);
  });

  test("says what is complete, of which owner, under which root and key", async () => {
    const root = await file("root.txt", await log.note(3));
    const { exitCode, stdout, stderr } = await verify(
      ...["--owner", OWNER, "--key", logKeyText(OLD_KEY), "--key", logKeyText(KEY), "--root", root],
    );
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toStartWith(
      "8 events from 2026-01-05T10:00:00.000Z to 2026-01-07T10:00:06.000Z of organization:acme are complete and unaltered.\n",
    );
    expect(stdout).toContain("  owner        organization:acme, as --owner names it\n");
    expect(stdout).toContain("  entries      14, 2 events without an outcome\n");
    expect(stdout).toMatch(
      / {2}root {9}\S+= of audit\.example\.com\/log, size 4, 2026-01-07T10:00:07\.000Z\n/,
    );
    expect(stdout).toContain(`  key          ${logKeyText(KEY)}\n`);
    expect(stdout).toContain("root.txt, size 3: the log continues it\n");
  });

  test("reads standard input, and writes the verdict as JSON", async () => {
    const { exitCode, stdout, stderr } = await cliProcess(["--json", "audit", "verify", "-"], {
      input: text,
    });
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toMatchObject({ result: "complete", owner: OWNER, events: 8, findings: [] });
  });

  test("ends with 1 and names the event that was changed", async () => {
    const changed = await file("changed.ndjson", text.replace('"status":201', '"status":204'));
    const { exitCode, stdout, stderr } = await cli(["audit", "verify", changed]);
    const id = JSON.parse(text.split("\n")[1] ?? "").id;
    expect(exitCode).toBe(1);
    expect(stdout).toContain(`  finding      Event ${id}, position 13: The entry is not what was sealed`);
    expect(stderr).toContain(id);
  });

  // AU-199
  test("ends with 4 for what the files do not decide, and says which export to ask for", async () => {
    const newer = twoDays();
    newer.write("2026-01-09T10:00:00.000Z");
    newer.seal("2026-01-09T10:00:01.000Z");
    const roots = { newer: await newer.note(), unconnected: await log.note(2) };
    const asked = { newer: "Make the export again", unconnected: "Expected: root=2." };
    for (const name of ["newer", "unconnected"] as const) {
      const { exitCode, stdout, stderr } = await verify("--root", await file(name, roots[name]));
      expect([name, exitCode]).toEqual([name, 4]);
      expect(stdout).toContain("are undecided: nothing is wrong");
      expect(stderr).toContain(asked[name]);
    }
    const empty = await file("empty.ndjson", textOf(await new LogBuilder([KEY]).export(OWNER)));
    expect(await cli(["audit", "verify", empty])).toMatchObject({ exitCode: 4 });
  });

  // AU-197
  test("names the witnesses that cosigned, and ends with 4 below the quorum", async () => {
    const keys = [WITNESS, SECOND_WITNESS].map(witnessKeyText);
    const witnesses = await file("witnesses.txt", `# ours\n${keys.join("\n")}\n`);
    const seen = await verify("--witness-keys", witnesses, "--quorum", "1");
    expect(seen).toMatchObject({ exitCode: 0, stderr: "" });
    expect(seen.stdout).toContain("  witness      witness.example.com/1, 2026-01-01T00:00:00.000Z\n");
    expect(seen.stdout).toContain("  witness      witness.example.com/2, no cosignature\n");
    const few = await verify("--witness-keys", witnesses);
    expect(few).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining("Expected: 2 of 2. Found: 1."),
    });
  });

  test("takes an owner whose id begins with a line break, and says that the log is of another", async () => {
    const { exitCode, stderr } = await verify("--owner", "organization:\nacme");
    expect([exitCode, stderr.trimEnd().split("\n").length]).toEqual([1, 1]);
  });

  test("ends with 2 for files that cannot be read or are something else", async () => {
    await mkdir(join(directory(), "folder"), { recursive: true });
    const csv = await file("log.csv", "id,occurred_at\n1,2\n");
    for (const parameters of [
      ["missing.ndjson"],
      [join(directory(), "folder")],
      ["/dev/null"],
      [path, "--key", witnessKeyText(WITNESS)],
      [path, "--owner", "acme"],
      [path, "--root", csv],
      [path, "--root", await file("nothing", "")],
      [path, "--root", "missing"],
      [path, "--witness-keys", csv],
      [path, "--quorum", "1"],
      [],
      [path, "--more"],
    ]) {
      const { exitCode, stdout, stderr } = await cli(["audit", "verify", ...parameters]);
      expect([parameters, exitCode, stdout]).toEqual([parameters, 2, ""]);
      expect(stderr).not.toContain("    at ");
    }
    expect(await cli(["audit", "verify", csv])).toMatchObject({ exitCode: 1 });
    const hostile = await file("hostile.ndjson", `${"[".repeat(1_000_000)}\n${"\u001b[2J"}\n`);
    const { exitCode, stdout } = await cli(["audit", "verify", hostile]);
    expect([exitCode, stdout.includes("\u001b")]).toEqual([1, false]);
  });
});
