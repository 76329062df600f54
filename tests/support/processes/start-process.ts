import { ROOT } from "../root.ts";
import { waitFor } from "../time/wait-for.ts";
import { leash } from "./clean-up-after-kill.ts";
import { commandOf } from "./command-of.ts";
import { hasExited } from "./processes.ts";
import { QUICK_STARTS } from "./quick-starts.ts";

const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 30_000;

/** A service that runs as its own process, as in production. */
export interface RunningProcess {
  readonly pid: number;
  readonly url: string;
  readonly internalUrl: string;
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
  /** Returns the lines of standard output that are JSON objects. */
  logs(): Record<string, unknown>[];
  /** Sends a signal, by default SIGTERM, and resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number>;
  /** Ends the process at once, with SIGKILL. */
  kill(): Promise<void>;
  readonly exited: Promise<number>;
}

export interface ProcessOptions {
  /** Whether the service runs from its source, also where the run has an executable. Default: false. */
  source?: boolean;
  /** The maximum number of open files and connections. By default, it is that of this process. */
  descriptorsMax?: number;
}

export class ProcessEnded extends Error {
  readonly exitCode: number;
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];

  constructor(entry: string, exitCode: number, stdout: readonly string[], stderr: readonly string[]) {
    super(`${entry} exited with code ${exitCode}: ${stderr.join("\n") || stdout.join("\n")}`);
    this.name = "ProcessEnded";
    this.exitCode = exitCode;
    this.stdout = stdout;
    this.stderr = stderr;
  }
}

/**
 * Starts a service from the root of the repository. `called` is its entry file or a list of parameters of
 * Bun. With an entry file, the service runs from the executable that `bun run verify` built, if any. The
 * environment contains only `env`, QUICK_STARTS, PATH, HOME and variables that select free ports. Resolves
 * once the service logs that it listens. Rejects with `ProcessEnded` if the process exits before that.
 */
export async function startProcess(
  called: string | readonly string[],
  env: Record<string, string>,
  { descriptorsMax, source = false }: ProcessOptions = {},
): Promise<RunningProcess> {
  const [entry = "", ...parameters] = typeof called === "string" ? [called] : called;
  const program = source || !entry.startsWith("apps/") ? [process.execPath, entry] : commandOf(entry);
  const command = [...program, ...parameters];
  const limited = ["sh", "-c", `ulimit -n ${descriptorsMax} && exec "$@"`, "sh", ...command];
  const { PATH = "", HOME = "" } = process.env;
  const variables = { PATH, HOME, ...QUICK_STARTS, ...FREE, ...loadedOnce(command, env), ...env };
  return startCommand(descriptorsMax === undefined ? command : limited, variables, ROOT);
}

/**
 * Returns the variable that makes a gateway or quick start keep its process. Without the variable, it would
 * replace its own process and load everything twice. The value fits only the default of
 * MAX_UPSTREAM_REQUESTS.
 */
function loadedOnce(command: readonly string[], env: Record<string, string>): Record<string, string> {
  const isReplaced = command.some((word) => /^gateway$|\bapps\/(gateway|platform)\/main\.ts$/.test(word));
  if (!isReplaced || env.MAX_UPSTREAM_REQUESTS !== undefined) return {};
  return { BUN_CONFIG_MAX_HTTP_REQUESTS: "65000" };
}

/** Environment variables that select free ports on the loopback address. */
const FREE = { HOST: "127.0.0.1", PORT: "0", INTERNAL_PORT: "0" };

/**
 * Starts a program of this repository with only the environment variables `env`. Resolves and rejects as
 * `startProcess` does.
 */
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
      if (!hasExited(child)) return null;
      await Promise.all([stdout.ended, stderr.ended]);
      return "ended";
    },
    { timeoutMs: START_TIMEOUT_MS, what: `${entry} to listen` },
  ).catch((error) => {
    child.kill("SIGKILL");
    throw new Error(`${error.message}\n${[...stdout.lines, ...stderr.lines].join("\n")}`);
  });
  if (line === "ended") throw new ProcessEnded(entry, await exited, stdout.lines, stderr.lines);
  return {
    pid: child.pid,
    url: `http://127.0.0.1:${line.port}`,
    internalUrl: `http://127.0.0.1:${line.internal_port}`,
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

/** Returns the JSON object of a log line in a list, or an empty list for any other line. */
function parseLine(line: string): Record<string, unknown>[] {
  if (!line.startsWith("{")) return [];
  try {
    return [JSON.parse(line)];
  } catch {
    return []; // This is not a log line
  }
}
