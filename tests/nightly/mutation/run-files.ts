import { readFile } from "node:fs/promises";

/** Tests of a mutation that run longer than this hang, which a person would notice too. */
const HANGS_MS = 900_000;
/** Tests of a mutation may take all memory. The most that a whole tier takes is a third of this. */
const RESIDENT_PAGES_MAX = 1_000_000;
const LOOK_MS = 500;
const HEADER = /^(tests\/\S+\.test\.ts):$/;

/** Runs test files of a copy up to the first failure. Returns the file that failed, or null if all passed. */
export async function runFiles(
  root: string,
  files: readonly string[],
  options: readonly string[] = [],
): Promise<string | null> {
  const [first] = files;
  if (first === undefined) return null;
  const paths = files.map((file) => `./${file}`);
  const tests = Bun.spawn(
    [process.execPath, "test", "--bail", "--path-ignore-patterns=-", ...options, ...paths],
    { cwd: root, stdin: "ignore", stdout: "ignore", stderr: "pipe", timeout: HANGS_MS },
  );
  const look = setInterval(async () => {
    if ((await residentPages(tests.pid)) > RESIDENT_PAGES_MAX) tests.kill("SIGKILL");
  }, LOOK_MS);
  const [told, exitCode] = await Promise.all([tests.stderr.text(), tests.exited]);
  clearInterval(look);
  if (exitCode === 0) return null;
  let file = first;
  for (const line of told.split("\n")) {
    file = line.match(HEADER)?.[1] ?? file;
    if (line.startsWith("(fail)")) break;
  }
  return file;
}

/** Returns how many pages of memory a process holds, and 0 where the system does not tell. */
async function residentPages(pid: number): Promise<number> {
  const statm = await readFile(`/proc/${pid}/statm`, "utf8").catch(() => "");
  return Number(statm.split(" ")[1] ?? 0);
}
