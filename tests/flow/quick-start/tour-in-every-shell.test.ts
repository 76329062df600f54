/** Tests that the printed tour works in every shell, because people paste it into their own. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { startPlatform } from "../../full/flow/platform/bed.ts";
import { SHELLS } from "../../support/processes/interactive-shell.ts";
import type { RunningProcess } from "../../support/processes/start-process.ts";
import { freshDatabase } from "../../support/stores/services.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { expectTour, printedTour, takeTour } from "./tour.ts";

setDefaultTimeout(150_000);

/** The name of the data folder. Each of its special characters has a meaning in some shell or in a URL. */
const AWKWARD_NAME = `it's "100%41" #1 !! $HOME \`id\` ?[a]=~ {b,c};&`;

let directory: string;
let platform: RunningProcess;
let tour: string;
/** The platforms that the current test started. They are killed after the test. */
const others: RunningProcess[] = [];

async function start(folder: string, env: Record<string, string> = {}): Promise<RunningProcess> {
  return startPlatform({ DATA_DIR: join(directory, folder), DATABASE_URL: await freshDatabase(), ...env });
}

beforeAll(async () => {
  directory = temporaryFolder("shells");
  platform = await start(AWKWARD_NAME);
  tour = await printedTour(platform.stdout);
}, 120_000);
afterEach(async () => {
  await Promise.all(others.splice(0).map((each) => each.kill()));
});
afterAll(async () => {
  expect(await platform.stop()).toBe(0);
}, 120_000);

const absent = Object.keys(SHELLS).filter((shell) => Bun.which(shell) === null);
if (absent.length > 0)
  process.stderr.write(`shells that this machine lacks and that were not tested: ${absent.join(", ")}\n`);

describe.each(Object.keys(SHELLS).filter((shell) => !absent.includes(shell)))("the tour in %s", (shell) => {
  test("works when it is pasted", async () => {
    expectTour(await takeTour(tour, shell));
  });

  test("works when it is typed, without bracketed paste", async () => {
    expectTour(await takeTour(tour, shell, false));
  });
});

test("the tour works when the platform listens on an IPv6 address", async () => {
  const other = await start("six", { HOST: "::1" });
  others.push(other);
  const printed = await printedTour(other.stdout);
  expect(other.stdout.join("\n")).toMatch(/gateway {12}http:\/\/\[::1\]:\d+\n/);
  expectTour(await takeTour(printed, "dash"));
  expect(await other.stop()).toBe(0);
});

test("the tour works when the platform listens on every address", async () => {
  const other = await start("all", { HOST: "::", DEMO: "true" });
  others.push(other);
  expectTour(await takeTour(await printedTour(other.stdout), "dash"));
  expect(await other.stop()).toBe(0);
});
