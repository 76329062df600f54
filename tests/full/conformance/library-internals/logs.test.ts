import { expect } from "bun:test";
import { openSync } from "node:fs";
import { devNull } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { ROOT } from "../../../support/root.ts";
import { contract } from "./contract.ts";

contract("pino_drop", async () => {
  const destination = pino.destination({ dest: openSync(devNull, "a"), sync: false, maxLength: 8 });
  const dropped: string[] = [];
  destination.on("drop", (text: string) => dropped.push(text));
  destination.write("longer than eight\n");
  expect(dropped).toEqual(["longer than eight\n"]);
  const drained = new Promise((resolve) => destination.once("drain", resolve));
  destination.write("short\n");
  await drained;
  destination.end();
});

contract("pino_exit", () => {
  const script = `
    import pino from "pino";
    const destination = pino.destination({ dest: 1, sync: false });
    destination.flushSync = () => process.stderr.write("flushed");
  `;
  const { stderr } = Bun.spawnSync([process.execPath, "-e", script], {
    cwd: join(ROOT, "lib"),
  });
  expect(stderr.toString()).toBe("flushed");
});
