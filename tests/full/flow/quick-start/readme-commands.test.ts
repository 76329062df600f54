/** Runs the commands of README.md as a beginner would. Only the ports and the second registry differ. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { ADMIN_TOKEN, useRegistry } from "../../../app/registry/bed.ts";
import { commandsOf } from "../../../support/documents/documents.ts";
import { moved, Reader } from "../../../support/documents/guide-reader.ts";

setDefaultTimeout(180_000);

let reader: Reader;
beforeAll(async () => {
  reader = await Reader.open();
});

describe("the README's section on running Ostiary for real", () => {
  const registry = useRegistry();
  const second = useRegistry();

  test("publishes the catalogs to a new registry, and changes nothing the second time", async () => {
    const [customers = "", , ...others] = await commandsOf("README.md", "Run it for real");
    expect(others).toEqual([]);
    const commands = moved(customers, {
      "http://127.0.0.1:5002": registry.url,
      "ADMIN_TOKEN=…": `ADMIN_TOKEN=${ADMIN_TOKEN}`,
    });
    const printed = await reader.run(commands);
    expect(printed).toMatch(/^identity +http:\/\/identity:3000 +user, organization, member +\d+$/m);
    expect(printed).toMatch(/^audit +http:\/\/audit:3002 +public, user, organization +\d+$/m);
    const again = await reader.run(commands.replaceAll("bun cli apply -", "bun cli diff -"));
    expect(again).toMatch(/^identity: unchanged, current revision 1$/m);
  });

  test("publishes the staff catalog to a second registry", async () => {
    const [, staff = ""] = await commandsOf("README.md", "Run it for real");
    const commands = `export ADMIN_TOKEN=${ADMIN_TOKEN}\n${staff}`;
    expect(await reader.run(moved(commands, { "http://127.0.0.1:6002": second.url }))).toMatch(
      /^identity-staff +upserted +1$/m,
    );
  });
});
