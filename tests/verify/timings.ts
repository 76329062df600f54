import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { ROOT } from "../support/root.ts";

const Timings = Type.Object({ version: Type.Integer(), files: Type.Record(Type.String(), Type.Number()) });
/** Files that take less than half of this start last anyway. */
const STEP_MS = 10_000;

/** Rounds the durations to steps of ten seconds, and leaves out short files and those that no longer exist. */
export async function roundTimings(path: string): Promise<void> {
  const { version, files } = Value.Parse(Timings, await Bun.file(path).json());
  const kept = Object.entries(files)
    .map(([file, ms]): [string, number] => [file, Math.round(ms / STEP_MS) * STEP_MS])
    .filter(([, ms]) => ms > 0);
  const exists = await Promise.all(kept.map(([file]) => Bun.file(join(ROOT, file)).exists()));
  const known = kept.filter((_, index) => exists[index]).toSorted(([a], [b]) => (a < b ? -1 : 1));
  await Bun.write(path, `${JSON.stringify({ version, files: Object.fromEntries(known) }, null, 2)}\n`);
}
