import { pause, systemClock } from "../../async/index.ts";
import { UnusableDirectory } from "../claimed-directory.ts";
import {
  ConfigError,
  type Environment,
  hintsOfVariables,
  type Program,
  programHelp,
} from "../config/index.ts";
import { StoreUnavailable } from "../stores/errors.ts";
import { type ListenOptions, type Running, serve } from "./serve.ts";
import { type Service, StartRefused } from "./service.ts";
import { reportUncaughtErrors } from "./uncaught-errors.ts";

const EXIT_HELP = 0;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const EXIT_CONFIG = 78;

export interface Called {
  program: Program;
  env: Environment;
  parameters?: readonly string[];
}

interface Output {
  text: string;
  exitCode: number;
}

/** The errors that an operator can fix by changing variables, ports or folders. */
const refusals = [ConfigError, StartRefused, UnusableDirectory];

/**
 * Runs a process: starts the services with `start`, and shuts them down after a signal (OP-33). If it cannot start,
 * prints one message on stderr and exits (OP-5). Only `main.ts` files call this function.
 */
export async function runMain(start: () => Promise<Running[]>, called?: Called): Promise<void> {
  const output = called && outputOf(called.program, called.parameters ?? []);
  if (output) return end(output);
  await run(async (stopped) => {
    const tooLate = stopped.then(() => pause(systemClock, START_AFTER_SIGNAL_MS));
    const running = await Promise.race([start(), tooLate]);
    return running ?? process.exit(0);
  }, called);
}

/** Runs a process with one service. */
export function runService<Config extends ListenOptions, Socket>(
  called: Called,
  load: (env: Environment) => Config,
  wire: (config: Config) => Promise<Service<Socket>>,
): Promise<void> {
  return runMain(async () => {
    const config = load(called.env);
    return [await serve(await wire(config), config)];
  }, called);
}

/** Returns null if there are no arguments and the program must start (OP-135). */
export function outputOf(program: Program, parameters: readonly string[]): Output | null {
  const command = `bun apps/${program.app}/main.ts`;
  const unknown = parameters.find((parameter) => !HELP.includes(parameter));
  if (unknown !== undefined) {
    const text = `Unknown argument ${JSON.stringify(unknown)}: ${command} takes its settings from the environment. --help lists them.\n`;
    return { text, exitCode: EXIT_USAGE };
  }
  if (parameters.length === 0) return null;
  return { text: `Usage: ${command} [--help]\n\n${programHelp(program)}`, exitCode: EXIT_HELP };
}

const HELP = ["--help", "-h"];

/** Prints the output, help on stdout and a refusal on stderr, and exits. */
async function end({ text, exitCode }: Output): Promise<never> {
  const stream = exitCode === 0 ? process.stdout : process.stderr;
  stream.on("error", () => {}); // the reader has closed the pipe
  await new Promise((resolve) => stream.write(text, resolve));
  process.exit(exitCode);
}

/** How long a start may go on after a signal. It can wait an hour for the migrations of other replicas. */
const START_AFTER_SIGNAL_MS = 5_000;

async function run(
  start: (stopped: Promise<void>) => Promise<Running[]>,
  called: Called | undefined,
): Promise<void> {
  const hints = called ? hintsOfVariables(called.program, called.env) : [];
  const stopped = onSignals();
  let started: Running[] = [];
  // The handler must exist before anything starts, because the default action of SIGUSR2 ends the process.
  process.on("SIGUSR2", () => {
    for (const service of started) service.switchLogLevel?.();
  });
  const reportTo = reportUncaughtErrors();
  try {
    const running = await start(stopped);
    started = running;
    for (const hint of hints) running[0]?.log?.warn({}, hint);
    for (const { log } of running) if (log !== undefined) reportTo(log);
    await stopped;
    await Promise.all(running.map((service) => service.shutdown()));
    process.exit(0);
  } catch (error) {
    refuse(error, started.length === 0 ? hints : []);
  }
}

/** `work` reports on standard output. Errors end the process as in {@link runMain}. */
export function runJob(
  work: (report: (text: string) => Promise<void>) => Promise<void>,
  called: Called,
): Promise<void> {
  return run(async () => {
    process.stdout.on("error", () => {}); // the reader has closed the pipe
    await work((text) => new Promise((resolve) => process.stdout.write(text, () => resolve())));
    process.exit(0);
  }, called);
}

/** A package runner forwards Ctrl-C to a process that has already received it from the terminal. */
const SAME_SIGNAL_MS = 500;

/** A second signal that is not an echo exits the process at once. */
function onSignals(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let first: { signal: NodeJS.Signals; atMs: number } | null = null;
  const onSignal = (signal: NodeJS.Signals) => {
    const atMs = systemClock.elapsedMs();
    if (first === null) {
      first = { signal, atMs };
      resolve();
    } else if (signal !== first.signal || atMs - first.atMs > SAME_SIGNAL_MS) {
      process.exit(EXIT_FAILED);
    }
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  return promise;
}

function refuse(error: unknown, hints: readonly string[]): never {
  const message = messageOf(error);
  const isForOperator = refusals.some((kind) => error instanceof kind);
  const refusal = isForOperator ? message : `Could not start: ${withoutCredentials(message)}`;
  process.stderr.write([refusal, ...hints, ""].join("\n"));
  process.exit(isForOperator ? EXIT_CONFIG : EXIT_FAILED);
}

/** Adds the messages of causes in parentheses. The message of a `StoreUnavailable` is complete without its cause. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isWhole = error instanceof StoreUnavailable || !(error.cause instanceof Error);
  return isWhole ? error.message : `${error.message} (${messageOf(error.cause)})`;
}

/** Error messages of libraries can contain user names and passwords. */
function withoutCredentials(text: string): string {
  return text.replace(/\S+/g, (word) => {
    const user = word.indexOf("://") + 3;
    const host = word.lastIndexOf("@") + 1;
    return user < 3 || host < user ? word : word.slice(0, user) + word.slice(host);
  });
}

/**
 * If `env` lacks a variable that the runtime reads only at process start, this process replaces itself, before anything
 * is opened. It keeps its id, arguments and open files. Values that an operator has set are kept.
 */
export function withRuntimeVariables(
  env: Readonly<Record<string, string | undefined>>,
  variables: Readonly<Record<string, string>>,
): void {
  const missing = Object.keys(variables).some((name) => env[name] === undefined);
  if (!missing) return;
  const [, script = "", ...rest] = process.argv;
  const program = script.startsWith(COMPILED_ROOT) ? [] : [script];
  process.execve?.(process.execPath, [process.execPath, ...process.execArgv, ...program, ...rest], {
    ...variables,
    ...env,
  });
}

/** A compiled executable starts its script without an argument. */
const COMPILED_ROOT = "/$bunfs/";
