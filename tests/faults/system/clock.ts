import { chmod, mkdtemp, rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Leash } from "../../support/clean-up-after-kill.ts";
import { waitFor } from "../../support/wait-for.ts";

/** A difference of this size between two clocks is the age of an answer. */
const SAME_MS = 30_000;
const SEEN_MS = 10_000;

/** Returns libfaketime, which sets the clock of one process, or null where it is not installed. */
export function clockLibrary(): string | null {
  const places = ["/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/lib/faketime/libfaketimeMT.so.1"];
  const found = places.flatMap((place) => [
    ...new Bun.Glob(place.slice(1)).scanSync({ cwd: "/", absolute: true }),
  ]);
  return found[0] ?? null;
}

/** A clock of a running system. */
export interface SettableClock {
  /** Sets the clock this far from the machine's. */
  set(offset_ms: number): Promise<void>;
}

/**
 * The wall clock of one process, which a run sets while the process runs. Durations and timers of the process keep
 * their pace, as they do when somebody sets the clock of a machine.
 */
export class ProcessClock {
  /** The variables with which the process must start. */
  readonly variables: Readonly<Record<string, string>>;
  readonly #file: string;

  static async make(library: string, leash: Leash): Promise<ProcessClock> {
    const directory = await mkdtemp(join(tmpdir(), "ostiary-clock-"));
    leash.directory(directory);
    await chmod(directory, 0o755); // PostgreSQL runs under an account of its own
    const clock = new ProcessClock(library, join(directory, "offset"));
    await clock.#write(0);
    return clock;
  }

  private constructor(library: string, file: string) {
    this.#file = file;
    this.variables = {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      FAKETIME_DISABLE_SHM: "1",
    };
  }

  /** Returns what sets the clock, and then waits until `read` shows it. */
  readBy(read: () => Promise<number>): SettableClock {
    return {
      set: async (offset_ms) => {
        await this.#write(offset_ms);
        const isSet = async () => Math.abs((await read()) - Date.now() - offset_ms) < SAME_MS;
        await waitFor(isSet, { timeout_ms: SEEN_MS, what: "A clock that was set" });
      },
    };
  }

  /** Replaces the file as a whole, because each look of the process at its clock reads it. */
  async #write(offset_ms: number): Promise<void> {
    const seconds = Math.round(offset_ms / 1_000);
    await writeFile(`${this.#file}.new`, seconds < 0 ? String(seconds) : `+${seconds}`);
    await rename(`${this.#file}.new`, this.#file);
  }
}
