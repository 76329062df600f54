/** Runs all commands of ten-minutes.md as a beginner would. Only the ports differ. */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { commandsOf } from "../../../support/documents/documents.ts";
import { moved, Reader, withNodeOrBun } from "../../../support/documents/guide-reader.ts";
import { freePort } from "../../../support/http/free-port.ts";
import { ROOT } from "../../../support/root.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { ended, startQuickStart } from "./quick-start.ts";

setDefaultTimeout(180_000);

const GUIDE = ".github/guides/ten-minutes.md";

let reader: Reader;
beforeAll(async () => {
  // The package `ostiary` runs the executable; npx-ostiary.test.ts proves that. Here the same commands run from source.
  const commands = temporaryFolder("npx");
  const npx = `#!/bin/sh\nshift\nexec '${process.execPath}' '${join(ROOT, "apps/platform/ostiary.ts")}' "$@"\n`;
  await Bun.write(join(commands, "npx"), npx);
  await chmod(join(commands, "npx"), 0o755);
  reader = await Reader.open({ PATH: `${commands}:${process.env.PATH}` });
});

test("ten-minutes.md leads from nothing to a protected API", async () => {
  const [start = "", ...others] = await commandsOf(GUIDE, "1. Start Ostiary");
  expect([start.trim(), ...others]).toEqual(["npx ostiary start"]);
  const [serve = ""] = await commandsOf(GUIDE, "2. Start your service");
  const port = freePort();
  const service = reader.start(`exec ${withNodeOrBun(moved(serve, { "listen(7000": `listen(${port}` }))}`);
  const ostiary = await startQuickStart(reader);
  try {
    const places = { ...ostiary.places, "127.0.0.1:7000": `127.0.0.1:${port}` };
    await waitFor(async () => (await fetch(`http://127.0.0.1:${port}`)).ok, { what: "the service" });
    const blocks = await Promise.all(
      [
        "3. Write down its routes",
        "4. Publish them",
        "5. Call it",
        "6. Give a program a key",
        "7. See the limit and the log",
        "8. Change it, and take it back",
      ].map((heading) => commandsOf(GUIDE, heading)),
    );
    const printed = await reader.runAll(blocks.flat().map((block) => moved(block, places)));
    expect(printed).toHaveLength(8);
    const [, published = "", called = "", robot, limited, log = "", changed = "", history = ""] = printed;
    expect(published).toStartWith("things: created\n");
    expect(published).toMatch(/^things +upserted +1$/m);
    expect(published).toContain("PUT /org/things/{thing_id} of things serves this request.");
    const echo = JSON.parse(called);
    expect(echo.method).toBe("PUT");
    expect(echo.path).toMatch(/^\/organizations\/[0-9A-Z]{26}\/things\/42$/);
    expect(JSON.stringify(echo.headers)).not.toMatch(/authorization|api-key|ostiary-s-/i);
    expect(robot).toBe("200\n403\n");
    expect(limited).toBe("200\n429\n");
    expect(JSON.parse(log).audit_events[0]).toMatchObject({
      route: "/org/things/{thing_id}",
      service: "things",
    });
    expect(changed).toStartWith("things: changed, current revision 1\n");
    expect(changed).toMatch(/^things +upserted +2$/m);
    expect(history).toContain("Revision 3 of things restores revision 1.");
    expect(history).toContain("things: revision 2 to 3\n");
    expect(history).not.toContain("No changes.");
    expect(history).toContain("Usage: ostiary");
  } finally {
    await Promise.all([ended(service), ostiary.stop()]);
  }
});
