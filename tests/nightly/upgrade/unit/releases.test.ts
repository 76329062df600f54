import { describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { rejection } from "../../../support/index.ts";
import { ROOT } from "../../../support/root.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { RunImpossible } from "../../faults/system/system.ts";
import { absenceOf, releaseOf, rootOf } from "../checkout.ts";
import { ORDERS, PARTS, shortRun, wholeRun } from "../orders.ts";
import { upgradeOf } from "../parameters.ts";
import { RELEASES, WORKING_TREE } from "../releases.ts";

/** A release whose commit no clone has. */
const ABSENT = { version: "9.9.9", revision: "9".repeat(40) };

describe("the releases that an upgrade can run", () => {
  test("are those of the change log before the version of this source, the oldest first", async () => {
    const { version: own } = await Bun.file(join(ROOT, "package.json")).json();
    const changes = await Bun.file(join(ROOT, ".github/CHANGELOG.md")).text();
    const listed = Array.from(changes.matchAll(/^## ([1-9]\d*\.\d+\.\d+)$/gm), ([, version]) =>
      String(version),
    );
    expect(RELEASES.map(({ version }) => version)).toEqual(
      listed.toReversed().filter((each) => each !== own),
    );
  });

  test("have full commit ids, and the package.json of each commit has the version", () => {
    for (const release of RELEASES) {
      expect(release.revision).toMatch(/^[0-9a-f]{40}$/);
      if (absenceOf(release) !== null) continue;
      const { stdout } = Bun.spawnSync(["git", "-C", ROOT, "show", `${release.revision}:package.json`]);
      expect(JSON.parse(stdout.toString())).toMatchObject({ version: release.version });
    }
  });

  test("the working tree needs no commit", async () => {
    expect(releaseOf(WORKING_TREE)).toBeNull();
    expect(await rootOf(WORKING_TREE, "/nowhere")).toBe(ROOT);
  });

  test("an unknown version is refused with the list of versions", () => {
    for (const unknown of ["", "0.2.0", "v1.0.0", "main"]) {
      expect(() => releaseOf(unknown)).toThrow(RunImpossible);
      expect(() => releaseOf(unknown)).toThrow(`There is no version "${unknown}". Choose one of: `);
    }
  });

  test("the error for a clone without the commit says what to fetch", async () => {
    const clone = temporaryFolder("clone");
    Bun.spawnSync(["git", "init", "--quiet", clone]);
    expect(absenceOf(ABSENT, clone)).toBe(
      "This clone does not have 9.9.9 (commit 999999999999): run git fetch --unshallow, or clone the whole history.",
    );
    await rm(clone, { recursive: true });
    expect(absenceOf(ABSENT, clone)).toContain("This clone does not have 9.9.9");
  });

  test("a version that cannot be prepared is refused", async () => {
    expect(await rejection(rootOf("9.9.9", "/nowhere"))).toBeInstanceOf(RunImpossible);
  });
});

describe("the orders of an upgrade", () => {
  test("replace every service once, forward and back", () => {
    for (const { parts } of ORDERS) expect(parts.toSorted()).toEqual(PARTS.toSorted());
    expect(ORDERS.map(({ isForward }) => isForward)).toEqual([true, false, true, false]);
  });

  test("begin with the order of the guide", async () => {
    const guide = await Bun.file(join(ROOT, ".github/guides/upgrading.md")).text();
    const [, loop = ""] = /for part in ([a-z ]+); do/.exec(guide) ?? [];
    expect(ORDERS[0]?.parts.join(" ")).toBe(loop);
  });

  test("lead to the newer version and back again", () => {
    expect(wholeRun("1", "2").map(({ to }) => to)).toEqual(["2", "1", "2", "1"]);
  });

  test("of a short run upgrade to each version in the order of the guide, and go one version back", () => {
    const legs = shortRun(["1", "2", "3"]);
    expect(legs.map(({ name }) => name)).toEqual(["forward to 2", "forward to 3", "back to 2"]);
    expect(legs.map(({ to }) => to)).toEqual(["2", "3", "2"]);
    expect(legs.slice(0, 2).every(({ parts }) => parts.join() === PARTS.join())).toBe(true);
    expect(legs.at(-1)?.parts).toEqual(PARTS.toReversed());
    expect(shortRun(["1"])).toEqual([]);
  });
});

describe("bun run nightly upgrade", () => {
  test.each([
    [["tree", "tree"], "needs two different versions"],
    [["tree", "0.0.1"], 'There is no version "0.0.1".'],
    [["1.0.0", "1.1.0", "tree"], "takes at most two versions"],
    [["--short", "1.0.0"], "upgrade --short takes no versions."],
    [["--long"], "--long"],
  ])("refuses %j", (parameters, message) => {
    expect(() => upgradeOf(parameters)).toThrow(RunImpossible);
    expect(() => upgradeOf(parameters)).toThrow(message);
  });

  test.if(RELEASES.length === 0).each([[[]], [["--short"]]])(
    "says for %j that there is no release yet",
    (parameters) => {
      expect(() => upgradeOf(parameters)).toThrow(RunImpossible);
      expect(() => upgradeOf(parameters)).toThrow("There is no release of 1.0.0 or later yet");
    },
  );

  test.if(RELEASES.length > 0)(
    "goes from the last release to the working tree and back, twice, by default",
    () => {
      const { from, legs } = upgradeOf([]);
      const last = RELEASES.at(-1)?.version;
      expect([from, ...legs.map(({ to }) => to)].map(String)).toEqual(
        [last, WORKING_TREE, last, WORKING_TREE, last].map(String),
      );
    },
  );
});
