import { ConfigError } from "../config/index.ts";
import { UnusableFolder } from "../stores/database/data-folder.ts";
import { StoreUnavailable } from "../stores/errors.ts";
import { UncaughtFaults } from "./faults.ts";
import type { Running } from "./serve.ts";
import { StartRefused } from "./service.ts";

const EXIT_CONFIG = 78;
const EXIT_FAILED = 1;

/** What an operator mends by changing variables, ports or folders. */
const refusals = [ConfigError, StartRefused, UnusableFolder];

/**
 * The life of a process: `start` brings its services up, a signal brings them down, and every refusal to
 * start is one message on stderr (contract 1). Called by `main.ts` files and by nothing else.
 */
export async function runMain(start: () => Promise<Running[]>): Promise<void> {
  const stopped = onSignals();
  let started: Running[] = [];
  // before anything has started too: its default is to end the process
  process.on("SIGUSR2", () => {
    for (const service of started) service.switchLogLevel?.();
  });
  const faults = new UncaughtFaults();
  try {
    const running = await start();
    started = running;
    for (const { log } of running) if (log !== undefined) faults.reportTo(log);
    await stopped;
    await Promise.all(running.map((service) => service.shutdown()));
    process.exit(0);
  } catch (error) {
    refuse(error);
  }
}

/** Ctrl-C reaches a process twice when a package runner in front of it passes the signal on as well. */
const SAME_SIGNAL_MS = 500;

/** Resolves at the first SIGTERM or SIGINT; a second one, when it is no echo, ends the process at once. */
function onSignals(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let first: { signal: NodeJS.Signals; at_ms: number } | null = null;
  const onSignal = (signal: NodeJS.Signals) => {
    const at_ms = performance.now();
    if (first === null) {
      first = { signal, at_ms };
      resolve();
    } else if (signal !== first.signal || at_ms - first.at_ms > SAME_SIGNAL_MS) {
      process.exit(EXIT_FAILED);
    }
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  return promise;
}

function refuse(error: unknown): never {
  const mendable = refusals.some((kind) => error instanceof kind);
  const message = messageOf(error);
  process.stderr.write(mendable ? `${message}\n` : `Could not start: ${withoutCredentials(message)}\n`);
  process.exit(mendable ? EXIT_CONFIG : EXIT_FAILED);
}

/** The message, and the innermost cause where that says more. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isWhole = error instanceof StoreUnavailable || !(error.cause instanceof Error);
  return isWhole ? error.message : `${error.message} (${messageOf(error.cause)})`;
}

/** Whatever a library puts into its messages, the user and password of a URL are not printed. */
function withoutCredentials(text: string): string {
  return text.replace(/\S+/g, (word) => {
    const user = word.indexOf("://") + 3;
    const host = word.lastIndexOf("@") + 1;
    return user < 3 || host < user ? word : word.slice(0, user) + word.slice(host);
  });
}
