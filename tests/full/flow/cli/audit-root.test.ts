import { beforeAll, describe, expect, test } from "bun:test";
import { useCli } from "../../../app/cli/bed.ts";
import { TestLog, testWitness } from "../../../support/audit/test-log.ts";

describe("audit root", () => {
  const { cli, cliProcess, file } = useCli();
  const log = new TestLog("audit.example.com/log").grow(3);
  const witness = testWitness("w.example.com");
  const note = `${log.note()}${witness.line(log.text(), 1_679_315_147)}`;
  let root: string;
  let keys: string;

  beforeAll(async () => {
    root = await file("root.txt", note);
    keys = await file("witnesses.txt", `${witness.key}\n${testWitness("other.example.com").key}\n`);
  });
  const audit = (...parameters: string[]) => cli(["audit", "root", ...parameters, "--witness-keys", keys]);

  // AU-175
  test("says who cosigned the root and when, and exits with 1 below the quorum", async () => {
    const found = await audit(root, "--quorum", "1", "--origin", log.origin);
    expect(found).toMatchObject({ exitCode: 0, stderr: "" });
    expect(found.stdout).toBe(
      `1 of 2 witnesses cosigned this root.\n  log          ${log.origin}, 3 checkpoints\n  witness      w.example.com, 2023-03-20T12:25:47.000Z\n  witness      other.example.com, no cosignature\n`,
    );
    const below = await audit(root);
    expect(below.exitCode).toBe(1);
    expect(below.stderr).toContain("1 of 2 witnesses cosigned this root; at least 2 must.");
  });

  // AU-175
  test("reads standard input, writes JSON, and refuses another log", async () => {
    const parameters = ["--json", "audit", "root", "-", "--witness-keys", keys, "--quorum", "1"];
    const asJson = await cliProcess(parameters, { input: note });
    expect(JSON.parse(asJson.stdout)).toMatchObject({ origin: log.origin, size: 3, is_witnessed: true });
    const wrong = await audit(root, "--quorum", "1", "--origin", "audit.example.org/log");
    expect(wrong.exitCode).toBe(1);
    expect(wrong.stderr).toContain("--origin names audit.example.org/log");
  });

  // AU-175
  test("exits with 2 for a wrong quorum, or a file that is not a root or not a key list", async () => {
    const text = await file("other.txt", "something else\n");
    const calls = [[root, "--quorum", "0"], [root, "--quorum", "3"], [text], [`${root}.missing`]];
    for (const parameters of calls) expect((await audit(...parameters)).exitCode).toBe(2);
    const noKeys = await cli(["audit", "root", root, "--witness-keys", text]);
    expect(noKeys.exitCode).toBe(2);
    expect(noKeys.stderr).toContain("line 1 is not a key of a witness");
  });
});
