import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { AuditService } from "../../../app/audit/audit-service.ts";
import { exportProof, keysOf, startProvenAudit, writeEvents } from "../../../app/audit/proof-bed.ts";
import { useCli } from "../../../app/cli/bed.ts";
import { ROOT } from "../../../support/root.ts";

// AU-76
describe("audit verify", () => {
  const { cli, cliProcess, file, directory } = useCli();
  let audit: AuditService;
  let log: string;
  let text: string;
  let keys: string;

  beforeAll(async () => {
    audit = await startProvenAudit();
    await writeEvents(audit, 3);
    text = (await exportProof(audit)).text;
    log = await file("log.ndjson", text);
    keys = await file("keys.json", JSON.stringify({ keys: await keysOf(audit) }));
  });
  afterAll(() => audit.stop());

  test("names the complete and unaltered chains, their time span and the checkpoint", async () => {
    const { exitCode, stdout, stderr } = await cli(["audit", "verify", log, "--keys", keys]);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^3 events from 2\S+Z to 2\S+Z are complete and unaltered\.\n/);
    expect(stdout).toContain("organization:organization-1, 5 entries, 1 events without an outcome");
    expect(stdout).toMatch(/checkpoint {3}\d+ of 2\S+Z, signed by [\w-]{43}\n/);
    const unsure = await cli(["audit", "verify", log]);
    expect(unsure.stdout).toContain("a key from this file itself: give the key that you trust as --keys");
  });

  test("reads standard input, and writes its findings as JSON", async () => {
    const { exitCode, stdout } = await cliProcess(["--json", "audit", "verify", "-"], { input: text });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ complete: true, events: 3, entries: 5, faults: [] });
  });

  test("names the event that was changed, and exits with 1", async () => {
    const changed = await file("changed.ndjson", text.replace('"status":201', '"status":204'));
    const { exitCode, stdout, stderr } = await cli(["audit", "verify", changed, "--keys", keys]);
    const id = JSON.parse(text.split("\n")[1] ?? "").id;
    expect(exitCode).toBe(1);
    expect(stdout).toContain(`The outcome of event ${id} is not what was sealed at position 4`);
    expect(stderr).toContain(id);
    const asJson = await cli(["--json", "audit", "verify", changed]);
    expect([asJson.exitCode, JSON.parse(asJson.stdout).faults[0].event_id]).toEqual([1, id]);
  });

  test("compares with a kept page of checkpoints, one checkpoint, its JWS or an earlier export", async () => {
    const page = await (await audit.get("/audit-checkpoints")).text();
    const [newest] = JSON.parse(page).audit_checkpoints;
    await writeEvents(audit, 2);
    const later = await file("later.ndjson", (await exportProof(audit)).text);
    const copies = { page, one: JSON.stringify(newest), jws: `${newest.jws}\n`, export: text };
    for (const [name, copy] of Object.entries(copies)) {
      const kept = await file(`kept-${name}`, copy);
      expect(await cli(["audit", "verify", later, "--checkpoint", kept, "--keys", keys])).toMatchObject({
        exitCode: 0,
      });
    }
    const newer = await file("newer.ndjson", (await exportProof(audit)).text);
    const { exitCode, stdout } = await cli(["audit", "verify", log, "--checkpoint", newer]);
    expect(exitCode).toBe(4);
    expect(stdout).toContain("Either this file was exported before the kept export, or the log was restored");
  });

  // AU-157
  test("confirms a kept root of the tree by an export with checkpoint=N, and refuses a forged root", async () => {
    await exportProof(audit);
    const root = await (await audit.get("/audit-log/checkpoint")).text();
    const size = Number(root.split("\n")[1]);
    await writeEvents(audit, 1);
    const path = "/organizations/organization-1/audit-events/export?format=ndjson&proof=true";
    const asked = async (which: string) =>
      file(`asked${which}.ndjson`, await (await audit.get(`${path}${which}`)).text());
    const kept = await file("root.txt", root);
    const verify = async (which: string, copy: string) =>
      cli(["audit", "verify", await asked(which), "--checkpoint", copy, "--keys", keys]);
    const found = await verify(`&checkpoint=${size}`, kept);
    expect(found).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("whose root ostiary/audit-log signed"),
    });
    const forged = await file("forged.txt", root.replace(/\n[^\n]{43}=\n/, `\n${"A".repeat(43)}=\n`));
    const refused = await verify(`&checkpoint=${size}`, forged);
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("has a wrong signature") });
  });

  test("exits with 4 and says what the files do not show, without reporting a problem", async () => {
    const person = await exportProof(audit, "/users/nobody/audit-events");
    const another = await file("another.ndjson", person.text);
    const parameters = ["audit", "verify", log, "--checkpoint", another];
    const found = await cli([...parameters, "--keys", keys]);
    expect(found.exitCode).toBe(4);
    expect(found.stdout).toContain("These files do not show:");
    expect(found.stderr).toStartWith("No problem was found, but these files do not show everything");
    const { exitCode, stdout } = await cli(["--json", ...parameters]);
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([
      4,
      { result: "undecided", complete: false, faults: [] },
    ]);
  });

  test("confirms an empty log with the head map of the newest checkpoint", async () => {
    const { text: nothing } = await exportProof(audit, "/organizations/new/audit-events");
    const empty = await file("empty.ndjson", nothing);
    expect(await cli(["audit", "verify", empty, "--keys", keys])).toMatchObject({ exitCode: 0 });
  });

  test("reads a kept export to its end, however long it is", async () => {
    // The file exceeds the 64 MiB that can be read as one text, and only its last line is used.
    const filler = `${JSON.stringify({ proof: "x".repeat(1024 * 1024) })}\n`;
    const kept = await file("long.ndjson", filler.repeat(70) + text);
    expect(await cli(["audit", "verify", log, "--keys", keys, "--checkpoint", kept])).toMatchObject({
      exitCode: 0,
    });
    const page = await (await audit.get("/audit-checkpoints")).text();
    const many = await file("many.json", `${" ".repeat(1024 * 1024)}\n`.repeat(70) + page);
    const now = await file("now.ndjson", (await exportProof(audit)).text);
    expect(await cli(["audit", "verify", now, "--keys", keys, "--checkpoint", many])).toMatchObject({
      exitCode: 0,
    });
  }, 60_000);

  test("exits with 2 for files that cannot be read or are something else", async () => {
    await mkdir(join(directory(), "folder"), { recursive: true });
    const csv = await file("log.csv", "id,occurred_at\n1,2\n");
    for (const parameters of [
      ["missing.ndjson"],
      [join(directory(), "folder")],
      [log, "--keys", csv],
      [log, "--keys", log],
      [log, "--checkpoint", csv],
      [log, "--checkpoint", await file("empty", "")],
      [log, "--checkpoint", "missing"],
      [],
      [log, "--more"],
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

  test("contacts no server and needs no URL", async () => {
    const lonely = { REGISTRY_URL: "http://127.0.0.1:1", ADMIN_TOKEN: "" };
    expect(await cli(["audit", "verify", log], { env: lonely })).toMatchObject({ exitCode: 0 });
  });

  describe("with --witness-keys", () => {
    const vectors = join(ROOT, "tests/full/conformance/audit-proof/witness-vectors.json");
    let witnesses: string;
    let exports: { title: string; lines: string[]; witnesses: { keys: string[] } | null }[];
    beforeAll(async () => {
      ({ exports } = await Bun.file(vectors).json());
      const all = exports.find((each) => each.witnesses?.keys.length === 3)?.witnesses?.keys ?? [];
      witnesses = await file("witnesses.txt", all.map((key) => `${key}\n`).join(""));
    });
    const exported = async (title: string) => {
      const found = exports.find((each) => each.title === `witnesses: ${title}`);
      return file(`${title}.ndjson`, `${found?.lines.join("\n")}\n`);
    };
    const audit = async (title: string, ...options: string[]) =>
      cli(["audit", "verify", await exported(title), "--witness-keys", witnesses, ...options]);
    const SEEN = "two of three cosigned the root of the file";

    // AU-197
    test("names the witnesses that cosigned, and exits with 1 below the quorum", async () => {
      const origin = "audit.example.com/log";
      const seen = await audit(SEEN, "--quorum", "2", "--origin", origin);
      expect(seen).toMatchObject({ exitCode: 0, stderr: "" });
      expect(seen.stdout).toContain(
        "  witnesses    2 of 3 cosigned the tree of 7 checkpoints; at least 2 must\n  witness      auditor.example.org/w1, 2026-01-13T10:35:00.000Z\n",
      );
      expect(seen.stdout).toContain("  witness      press.example.com/w3, no cosignature\n");
      expect(seen.stdout).not.toContain("another history for other readers");
      const few = await audit(SEEN);
      expect(few.exitCode).toBe(1);
      expect(few.stderr).toContain(
        "This log lacks cosignatures of its witnesses. Too few witnesses cosigned the log: 2 of 3; at least 3 must.",
      );
      const asJson = await cli([
        "--json",
        "audit",
        "verify",
        await exported(SEEN),
        "--witness-keys",
        witnesses,
      ]);
      expect(JSON.parse(asJson.stdout)).toMatchObject({
        result: "unwitnessed",
        complete: false,
        witnesses: { size: 7, quorum: 3, lack: { code: "cosigned_by_few", count: 2, total: 3, quorum: 3 } },
      });
    });

    // AU-197, AU-198
    test.each([
      ["a file without a cosigned root", "shows no root that witnesses cosigned"],
      [
        "two cosigned a root that lacks the checkpoint of the file",
        "has 6 checkpoints, but this file ends with checkpoint 7",
      ],
      ["a cosignature with another byte", "The cosignature of the witness partner.example.net/w2 is wrong"],
      ["the log was forked, with the root of the first history", "does not begin with the tree of 7"],
    ])("exits with 1 and says why: %s", async (title, why) => {
      const { exitCode, stderr } = await audit(title, "--quorum", "2");
      expect(exitCode).toBe(1);
      expect(stderr).toContain(why);
    });

    // AU-197
    test("exits with 1 for another log, and with 2 for a wrong combination of options", async () => {
      const other = await audit(SEEN, "--quorum", "2", "--origin", "audit.example.org/log");
      expect(other.exitCode).toBe(1);
      expect(other.stderr).toContain(
        "belongs to the log audit.example.com/log, but --origin names audit.example.org/log.",
      );
      const alone = await cli(["audit", "verify", log, "--quorum", "1"]);
      expect(alone.exitCode).toBe(2);
      expect(alone.stderr).toContain("--quorum needs --witness-keys");
      expect((await audit(SEEN, "--quorum", "4")).exitCode).toBe(2);
      const noKeys = await cli(["audit", "verify", log, "--witness-keys", keys]);
      expect(noKeys.stderr).toContain("is not a key of a witness");
      expect(noKeys.exitCode).toBe(2);
    });
  });
});
