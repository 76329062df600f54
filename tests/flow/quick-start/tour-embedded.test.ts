import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { startNewPlatform } from "../../full/flow/platform/bed.ts";
import { atTestEnd } from "../../support/at-test-end.ts";
import { ProcessEnded, type RunningProcess } from "../../support/processes/start-process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { expectTour, printedTour, takeTour } from "./tour.ts";

setDefaultTimeout(150_000);

const directory = temporaryFolder("tour");
async function start(env: Record<string, string> = {}): Promise<RunningProcess> {
  const platform = await startNewPlatform({ DATA_DIR: directory, ...env });
  atTestEnd(() => platform.kill());
  return platform;
}

describe("the quick start", () => {
  // OP-56
  test("prints a tour that works, shuts down cleanly, and keeps its data for the second start", async () => {
    const first = await start();
    expectTour(await takeTour(await printedTour(first.stdout)));
    const token = await Bun.file(join(directory, "admin-token")).text();
    expect(await first.stop("SIGINT")).toBe(0);

    const second = await start();
    const tour = await printedTour(second.stdout);
    const registry = tour.match(/^REGISTRY='(.*)'$/m)?.[1];
    const answer = await fetch(`${registry}/services/tour/revisions`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(await answer.json()).toMatchObject({
      revisions: [{ action: "restore" }, { action: "apply" }, { action: "apply" }],
    });
    expect(await second.stop("SIGTERM")).toBe(0);
  });

  test("exits with 78 and names the port that is in use", async () => {
    const taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
    const port = String(taken.port);
    const elsewhere = temporaryFolder("port");
    try {
      const refusal = await refused({ DATA_DIR: elsewhere, GATEWAY_PORT: port, DEMO_PORT: port });
      expect(refusal.stderr).toEqual([
        "The configuration is not valid:",
        `  GATEWAY_PORT is ${taken.port}, which is in use on 127.0.0.1 by another program: stop that program, or set another port.`,
        `  DEMO_PORT is ${taken.port}, the same port as GATEWAY_PORT: set two different ports.`,
      ]);
    } finally {
      taken.stop(true);
    }
  });

  test("exits with 78 and lists all wrong environment variables at once", async () => {
    const refusal = await refused({ DATA_DIR: directory, GATEWAY_PORT: "http", DEMO: "maybe" });
    expect(refusal.stderr).toEqual([
      "The configuration is not valid:",
      "  GATEWAY_PORT must be a whole number from 0 to 65535.",
      "  DEMO must be true or false.",
    ]);
  });
});

async function refused(env: Record<string, string>): Promise<ProcessEnded> {
  const failure = await start(env).catch((error: unknown) => error);
  if (!(failure instanceof ProcessEnded))
    throw new Error(`The platform must refuse to start: ${Bun.inspect(failure)}`);
  expect(failure.exitCode).toBe(78);
  return failure;
}
