import { chmod, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { waitFor } from "../../../support/time/wait-for.ts";

/** The tolerance when two clocks are compared, because a reading is old when it arrives. */
const SAME_MS = 30_000;
const SEEN_MS = 10_000;

/**
 * Returns the path of libfaketime, which can set the clock of one process. Returns null if it is not
 * installed.
 */
export function clockLibrary(): string | null {
  const places = ["/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/lib/faketime/libfaketimeMT.so.1"];
  const found = places.flatMap((place) => [
    ...new Bun.Glob(place.slice(1)).scanSync({ cwd: "/", absolute: true }),
  ]);
  return found[0] ?? null;
}

export interface SettableClock {
  /** Sets the clock to the machine's time plus `offsetMs`. */
  set(offsetMs: number): Promise<void>;
}

/**
 * The wall clock of one process, which can be set while the process runs. The process's monotonic clock and
 * timers are not affected, as when an administrator sets the clock of a machine.
 */
export class ProcessClock {
  readonly variables: Readonly<Record<string, string>>;
  readonly #file: string;

  static async make(library: string): Promise<ProcessClock> {
    const directory = temporaryFolder("clock");
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

  /**
   * Returns this clock as one that can be set. Its `set` changes the clock, and then waits until `read`
   * returns the new time.
   */
  readBy(read: () => Promise<number>): SettableClock {
    return {
      set: async (offsetMs) => {
        await this.#write(offsetMs);
        const isSet = async () => Math.abs((await read()) - Date.now() - offsetMs) < SAME_MS;
        await waitFor(isSet, { timeoutMs: SEEN_MS, what: "the clock to show the new time" });
      },
    };
  }

  /** Replaces the file atomically, because the process reads it each time it reads its clock. */
  async #write(offsetMs: number): Promise<void> {
    const seconds = Math.round(offsetMs / 1_000);
    await writeFile(`${this.#file}.new`, seconds < 0 ? String(seconds) : `+${seconds}`);
    await rename(`${this.#file}.new`, this.#file);
  }
}
