import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runCommandLine } from "../../../apps/cli/program.ts";
import type { Terminal } from "../../../apps/cli/terminal.ts";
import { leash } from "../../support/processes/clean-up-after-kill.ts";
import { commandOf } from "../../support/processes/command-of.ts";
import { runToEnd } from "../../support/processes/run-to-end.ts";
import { ROOT } from "../../support/root.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { waitFor } from "../../support/time/wait-for.ts";
import { ADMIN_TOKEN, type Registry, useRegistry } from "../registry/bed.ts";

const COMMAND = commandOf("apps/cli/main.ts");
/** The name by which the command line calls itself. */
export const NAME = COMMAND.length === 1 ? "ostiary" : "bun cli";

export interface Run {
  exitCode: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  input?: string | Uint8Array;
  env?: Record<string, string>;
  /** The parts of a terminal. A process ignores them. Default: no terminal. */
  terminal?: Partial<Terminal>;
  /** The folder in which a process runs. Default: the root of the repository. */
  cwd?: string;
}

/** The command line of an operator, with a registry and a temporary folder for all tests of a file. */
interface CliBed {
  readonly registry: Registry;
  /** Runs the command line in this process. */
  cli(parameters: string[], options?: RunOptions): Promise<Run>;
  /** Runs the command line as a process. */
  cliProcess(parameters: string[], options?: RunOptions): Promise<Run>;
  /** Writes a file into the temporary folder and returns its path. */
  file(name: string, content: string | Uint8Array): Promise<string>;
  /** Writes a document with these services into the temporary folder and returns its path. */
  document(name: string, services: object, more?: object): Promise<string>;
  /** Returns the path of the temporary folder. */
  directory(): string;
}

export function useCli(): CliBed {
  const registry = useRegistry();
  const directory = temporaryFolder("cli");
  const file: CliBed["file"] = async (name, content) => {
    const path = join(directory, name);
    await writeFile(path, content);
    return path;
  };
  return {
    registry,
    cli: (parameters, options) => runCli(registry.url, parameters, options),
    cliProcess: (parameters, options) => runCliProcess(registry.url, parameters, options),
    file,
    document: (name, services, more) => file(name, JSON.stringify({ services, ...more }, null, 2)),
    directory: () => directory,
  };
}

/** Runs the command line in this process, without a terminal, as an operator of the registry at `url`. */
export async function runCli(
  url: string,
  parameters: string[],
  { input = "", env = {}, terminal = {} }: RunOptions = {},
): Promise<Run> {
  const variables = { ...environmentOf(url), ...env };
  let stdout = "";
  let stderr = "";
  const exitCode = await runCommandLine({
    name: "bun cli",
    parameters,
    variable: (name) => variables[name],
    terminal: {
      write: (text) => {
        stdout += text;
      },
      writeError: (text) => {
        stderr += text;
      },
      readInput: async () => Uint8Array.from(Buffer.from(input)),
      ask: null,
      colors: false,
      progress: false,
      interruption: new AbortController().signal,
      ...terminal,
    },
  });
  return { exitCode, stdout, stderr };
}

/** Runs the command line as {@link runCli} does, but as a process of its own. */
function runCliProcess(
  url: string,
  parameters: string[],
  { input = "", env = {}, cwd }: RunOptions = {},
): Promise<Run> {
  return runToEnd([...COMMAND, ...parameters], { env: { ...environmentOf(url), ...env }, input, cwd });
}

/**
 * Runs the command line on a pseudo-terminal. The callback `person` can type and can read what the terminal
 * shows. The program does not run through `bun cli`, whose runner would be the session leader and may exit
 * first.
 */
export async function atTerminal(
  url: string,
  parameters: string[],
  person: (type: (text: string) => void, shown: () => string) => Promise<void>,
  env: Record<string, string> = {},
): Promise<{ exitCode: number; shown: string }> {
  let closed = false;
  let shown = "";
  const decoder = new TextDecoder();
  const child = Bun.spawn([...COMMAND, ...parameters], {
    cwd: ROOT,
    env: { ...environmentOf(url), ...env },
    terminal: {
      cols: 500,
      data: (_, bytes) => {
        shown += decoder.decode(bytes, { stream: true });
      },
      exit: () => {
        closed = true;
      },
    },
  });
  leash().process(child.pid);
  try {
    await person(
      (text) => void child.terminal?.write(text),
      () => shown,
    );
    const exitCode = await child.exited;
    await waitFor(() => closed, { what: "the output in the terminal" });
    return { exitCode, shown: shown.replaceAll("\r\n", "\n") };
  } finally {
    child.kill("SIGKILL");
    leash().release(child.pid);
    child.terminal?.close();
  }
}

/** Returns the environment of an operator of the registry at `url`. */
export function environmentOf(url: string): Record<string, string> {
  const { PATH = "", HOME = "" } = process.env;
  return { PATH, HOME, REGISTRY_URL: url, ADMIN_TOKEN };
}
