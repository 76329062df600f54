import { readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { residentBytes } from "../../bench/measure/machine.ts";
import { signal } from "../../support/processes.ts";
import { waitFor } from "../../support/wait-for.ts";
import type { Replica } from "../system/replica.ts";
import type { Held } from "./flatness.ts";

const Upkeep = Type.Object({ heap_bytes: Type.Number(), timers: Type.Number() });
const LOOK_MS = 10_000;

/** What a process of the four services holds now. */
export async function lookAt({ name, server, upkeep_file }: Replica): Promise<Held> {
  const { pid } = server;
  if (pid === undefined) throw new Error(`${name} does not run.`);
  // a new handle each time: one that has seen no file goes on seeing none
  await rm(upkeep_file, { force: true });
  signal(pid, "SIGWINCH");
  const told = await waitFor(async () => Value.Parse(Upkeep, await Bun.file(upkeep_file).json()), {
    timeout_ms: LOOK_MS,
    what: `What ${name} holds`,
  });
  const descriptors = readdirSync(`/proc/${pid}/fd`).length;
  return { ...told, resident_bytes: residentBytes(pid), descriptors };
}
