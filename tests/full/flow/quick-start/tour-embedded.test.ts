import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { atTestEnd } from "../../../support/at-test-end.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { startNewPlatform, startScreen } from "../platform/bed.ts";
import { expectTour, printedTour, takeTour } from "./tour.ts";

setDefaultTimeout(150_000);

/** The name of the data directory. Each of its special characters has a meaning in some shell or in a URL. */
const AWKWARD_NAME = `it's "100%41" #1 !! $HOME \`id\` ?[a]=~ {b,c};&`;

// OP-56
test("the quick start prints a tour that works, shuts down cleanly, and keeps its data", async () => {
  const DATA_DIR = join(temporaryFolder("tour"), AWKWARD_NAME);
  const start = async () => {
    const platform = await startNewPlatform({ DATA_DIR });
    atTestEnd(() => platform.kill());
    return platform;
  };
  const first = await start();
  expectTour(await takeTour(await printedTour(first.stdout)));
  const token = await Bun.file(join(DATA_DIR, "admin-token")).text();
  expect(await first.stop("SIGINT")).toBe(0);
  expect(first.stdout.filter((line) => line !== "" && !line.startsWith("{")).slice(-2)).toEqual([
    "Stopping once the requests in flight are complete ...",
    `Goodbye. The data is in ${DATA_DIR}: bun start continues with it.`,
  ]);

  const second = await start();
  const { "route registry": page = "" } = await startScreen(second);
  const response = await fetch(`${page.replace("/swagger", "")}/services/tour/revisions`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  expect(await response.json()).toMatchObject({
    revisions: [{ action: "restore" }, { action: "apply" }, { action: "apply" }],
  });
  expect(await second.stop("SIGTERM")).toBe(0);
});
