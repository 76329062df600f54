import { ConfigError } from "../config/index.ts";
import { DatabaseDirectoryError } from "../stores/database/directory.ts";
import type { Running } from "./serve.ts";
import { StartRefused } from "./service.ts";

const EXIT_CONFIG = 78;
const EXIT_FAILED = 1;

/** What an operator mends by changing variables, ports or directories. */
const refusals = [ConfigError, StartRefused, DatabaseDirectoryError];

/**
 * The life of a process: `start` brings its services up, a signal brings them down, and every refusal to
 * start is one message on stderr (contract 1). Called by `main.ts` files and by nothing else.
 */
export async function runMain(start: () => Promise<Running[]>): Promise<void> {
  const stopped = onSignals();
  try {
    const running = await start();
    await stopped;
    await Promise.all(running.map((service) => service.shutdown()));
    process.exit(0);
  } catch (error) {
    refuse(error);
  }
}

/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
function onSignals(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let signals = 0;
  const onSignal = () => {
    signals += 1;
    if (signals > 1) process.exit(EXIT_FAILED);
    resolve();
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  return promise;
}

function refuse(error: unknown): never {
  const mendable = refusals.some((kind) => error instanceof kind);
  process.stderr.write(mendable ? `${messageOf(error)}\n` : `Could not start: ${messageOf(error)}\n`);
  process.exit(mendable ? EXIT_CONFIG : EXIT_FAILED);
}

/** The message, and the innermost cause where that says more. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${messageOf(error.cause)})` : error.message;
}
