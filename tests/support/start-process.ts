import { join } from "node:path";
import { QUICK_STARTS } from "./quick-starts.ts";
import { leash } from "./services.ts";
import { waitFor } from "./wait-for.ts";

const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 30_000;

/** A service that runs as its own process, as in production. */
export interface RunningProcess {
  readonly pid: number;
  /** `http://127.0.0.1:<port>` of the public port. */
  readonly url: string;
  /** The URL of the internal port. */
  readonly internal_url: string;
  /** The lines of standard output so far. */
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
  /** Returns the lines of standard output that are JSON objects. */
  logs(): Record<string, unknown>[];
  /** Sends the signal, by default SIGTERM, and resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number>;
  /** Ends it at once. */
  kill(): Promise<void>;
  readonly exited: Promise<number>;
}

export interface ProcessOptions {
  /** The maximum of open files and connections; by default that of this process. */
  descriptors_max?: number;
}

/** The error for a process that ended before it listened. */
export class ProcessEnded extends Error {
  readonly exit_code: number;
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];

  constructor(entry: string, exit_code: number, stdout: readonly string[], stderr: readonly string[]) {
    super(`${entry} ended with ${exit_code}: ${stderr.join("\n") || stdout.join("\n")}`);
    this.name = "ProcessEnded";
    this.exit_code = exit_code;
    this.stdout = stdout;
    this.stderr = stderr;
  }
}

/**
 * Runs `bun <entry>`, with parameters if a list is given, from the root of the repository. It passes only the
 * given variables, `PATH`, `HOME`, free ports and those of a quick start. It resolves when the service logs that it listens, and
 * rejects with `ProcessEnded` when the process ends before.
 */
export async function startProcess(
  called: string | readonly string[],
  env: Record<string, string>,
  { descriptors_max }: ProcessOptions = {},
): Promise<RunningProcess> {
  const command = [process.execPath, ...(typeof called === "string" ? [called] : called)];
  const limited = ["sh", "-c", `ulimit -n ${descriptors_max} && exec "$@"`, "sh", ...command];
  const { PATH = "", HOME = "" } = process.env;
  const variables = { PATH, HOME, ...QUICK_STARTS, ...FREE, ...env };
  return startCommand(descriptors_max === undefined ? command : limited, variables, ROOT);
}

const ROOT = join(import.meta.dir, "../..");

const FREE = { HOST: "127.0.0.1", PORT: "0", INTERNAL_PORT: "0" };

/** Does the same for any program of this repository, with only the given variables. */
export async function startCommand(
  command: readonly string[],
  env: Record<string, string>,
  cwd: string,
): Promise<RunningProcess> {
  const entry = command.slice(-2).join(" ");
  const child = Bun.spawn([...command], { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const held = leash();
  held.process(child.pid);
  const exited = child.exited.then((code) => {
    held.release(child.pid);
    return code;
  });
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  const logs = () => stdout.lines.flatMap(parseLine);
  const line = await waitFor(
    async () => {
      const listening = logs().find((each) => each.message === "listening");
      if (listening !== undefined) return listening;
      if (child.exitCode === null) return null;
      await Promise.all([stdout.ended, stderr.ended]);
      return "ended";
    },
    { timeout_ms: START_TIMEOUT_MS, what: `${entry} listening` },
  ).catch((error) => {
    child.kill("SIGKILL");
    throw new Error(`${error.message}\n${[...stdout.lines, ...stderr.lines].join("\n")}`);
  });
  if (line === "ended") throw new ProcessEnded(entry, await exited, stdout.lines, stderr.lines);
  return {
    pid: child.pid,
    url: `http://127.0.0.1:${line.port}`,
    internal_url: `http://127.0.0.1:${line.internal_port}`,
    stdout: stdout.lines,
    stderr: stderr.lines,
    logs,
    exited,
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
      const code = await exited;
      clearTimeout(timer);
      await Promise.all([stdout.ended, stderr.ended]);
      return code;
    },
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

function collect(stream: ReadableStream<Uint8Array>): { lines: readonly string[]; ended: Promise<void> } {
  const lines: string[] = [];
  const read = async () => {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of stream) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = parts.pop() ?? "";
      lines.push(...parts);
    }
    if (rest !== "") lines.push(rest);
  };
  return { lines, ended: read() };
}

function parseLine(line: string): Record<string, unknown>[] {
  if (!line.startsWith("{")) return [];
  try {
    return [JSON.parse(line)];
  } catch {
    return []; // This is not a log line
  }
}
