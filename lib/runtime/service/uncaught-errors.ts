import { systemErrorCode } from "../../domain/errors/index.ts";
import type { Logger } from "../telemetry/index.ts";

type ErrorLog = Pick<Logger, "error">;

/**
 * Logs uncaught rejections and exceptions. Each log line has the error's code and the source positions from
 * its stack. The line omits the message, because a message can contain URLs with their queries. The process
 * survives a rejection. It exits after an exception, because its state is unreliable then.
 */
export class UncaughtErrors {
  #log: ErrorLog = standardError;

  constructor() {
    process.on("unhandledRejection", (reason) => this.#log.error(fieldsOf(reason), "unhandled rejection"));
    process.on("uncaughtException", (error) => {
      this.#log.error(fieldsOf(error), "uncaught exception");
      process.exit(EXIT_FAILED);
    });
  }

  /** Sends later reports to the log of a running service. */
  reportTo(log: ErrorLog): void {
    this.#log = log;
  }
}

const EXIT_FAILED = 1;

/** The log until a service provides its own. Writes lines to standard error. */
const standardError: ErrorLog = {
  error(fields, message) {
    const line = { level: "error", timestamp: new Date().toISOString(), message, ...fields };
    process.stderr.write(`${JSON.stringify(line)}\n`);
  },
};

function fieldsOf(error: unknown): { error_kind: "internal"; error_code: string; at: string[] } {
  if (!(error instanceof Error)) return { error_kind: "internal", error_code: typeof error, at: [] };
  return { error_kind: "internal", error_code: systemErrorCode(error) ?? error.name, at: placesOf(error) };
}

const PLACES_MAX = 5;
const PLACE = /^\s+at (?:.*[^\w.-])?([\w.-]+:\d+:\d+)\)?$/;

/**
 * Returns the source positions in the stack, innermost first. Skips the message at the start of the stack.
 */
function placesOf({ stack = "", message }: Error): string[] {
  const begin = stack.indexOf(message);
  if (begin < 0) return [];
  return stack
    .slice(begin + message.length)
    .split("\n")
    .flatMap((line) => PLACE.exec(line)?.[1] ?? [])
    .slice(0, PLACES_MAX);
}
