import { rm } from "node:fs/promises";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { connectionsOf, openFilesOf } from "../../../support/http/connections.ts";
import { signal } from "../../../support/processes/processes.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { residentBytes } from "../../bench/measure/machine.ts";
import type { Replica } from "../system/replica.ts";
import type { Held } from "./flatness.ts";

const Upkeep = Type.Object({ heap_bytes: Type.Number(), timers: Type.Number() });
const MIB = 1_048_576;
const LOOK_MS = 10_000;

/**
 * Reads the resources that a process of the four services holds.
 *
 * @param peers the names of the peers that the process connects to, by port
 */
export async function heldResources(
  { name, server, upkeepFile }: Replica,
  peers: ReadonlyMap<number, string>,
): Promise<Held> {
  const { pid } = server;
  if (pid === undefined) throw new Error(`${name} is not running.`);
  // A `BunFile` that found no file once never finds it later, so create a new one for each attempt.
  await rm(upkeepFile, { force: true });
  signal(pid, "SIGWINCH");
  const told = await waitFor(async () => Value.Parse(Upkeep, await Bun.file(upkeepFile).json()), {
    timeoutMs: LOOK_MS,
    what: `the report of ${name} about its resources`,
  });
  const connections = Object.entries(connectionsOf(pid, peers));
  return {
    "memory, MiB": residentBytes(pid) / MIB,
    "heap, MiB": told.heap_bytes / MIB,
    timers: told.timers,
    files: openFilesOf(pid),
    ...Object.fromEntries(connections.map(([peer, count]) => [`connections with ${peer}`, count])),
  };
}
