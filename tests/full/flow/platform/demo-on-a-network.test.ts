/**
 * Tests that the toy identity provider is not offered on a network without the operator's consent. It signs a
 * token for any name, so everybody who reaches its port can be anybody.
 */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ProcessEnded } from "../../../support/processes/start-process.ts";
import { rejection } from "../../../support/rejection.ts";
import { freshDatabase } from "../../../support/stores/services.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { startPlatform } from "./bed.ts";

setDefaultTimeout(120_000);

let parent: string;
let DATABASE_URL: string;
beforeAll(async () => {
  DATABASE_URL = await freshDatabase();
  parent = temporaryFolder("network");
});

// OP-60
describe("HOST with an address other than loopback", () => {
  test.each(["0.0.0.0", "::", "192.0.2.1", "gateway.internal"])(
    "%s is refused while DEMO is not set, and nothing is written",
    async (HOST) => {
      const DATA_DIR = join(parent, "refused");
      const unset: Record<string, string>[] = [{}, { DEMO: "" }];
      for (const given of unset) {
        const failure = await rejection(startPlatform({ DATA_DIR, HOST, ...given }));
        if (!(failure instanceof ProcessEnded)) throw failure;
        expect(failure.exitCode).toBe(78);
        expect(failure.stderr).toContain(
          `  DEMO is required because HOST is ${HOST}: set true to offer the toy identity provider there, or false.`,
        );
      }
      expect(await readdir(parent)).not.toContain("refused");
    },
  );

  test.each(["true", "false"])("is accepted with DEMO=%s", async (DEMO) => {
    const DATA_DIR = join(parent, DEMO);
    const env = { DATA_DIR, HOST: "0.0.0.0", DEMO, DATABASE_URL };
    const platform = await startPlatform({ ...env, AUTH_ISSUER: "", AUTH_JWKS_URI: "" });
    expect(await platform.stop()).toBe(0);
  });
});

test.each(["127.0.0.1", "127.0.0.2", "localhost"])("HOST=%s needs no DEMO", async (HOST) => {
  const DATA_DIR = join(parent, HOST);
  const platform = await startPlatform({ DATA_DIR, HOST, DATABASE_URL });
  expect(await platform.stop()).toBe(0);
});
