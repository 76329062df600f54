import { errorCode } from "../../domain/errors/index.ts";
import type { Logger } from "../telemetry/index.ts";

type ErrorLog = Pick<Logger, "error">;

/**
 * Reports uncaught rejections and exceptions. The runtime would print their messages, which can hold URLs
 * with their queries. One log line has the error's code and its place in the code instead. The process
 * survives a rejection. After an exception it is unreliable and exits.
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

  /** Sends further reports to the log of a running service. */
  reportTo(log: ErrorLog): void {
    this.#log = log;
  }
}

const EXIT_FAILED = 1;

/** The log before a service has one: lines on standard error. */
const standardError: ErrorLog = {
  error(fields, message) {
    const line = { level: "error", timestamp: new Date().toISOString(), message, ...fields };
    process.stderr.write(`${JSON.stringify(line)}\n`);
  },
};

function fieldsOf(error: unknown): { error_kind: "internal"; error_code: string; at: string[] } {
  if (!(error instanceof Error)) return { error_kind: "internal", error_code: typeof error, at: [] };
  return { error_kind: "internal", error_code: errorCode(error) ?? error.name, at: placesOf(error) };
}

const PLACES_MAX = 5;
const PLACE = /^\s+at (?:.*[^\w.-])?([\w.-]+:\d+:\d+)\)?$/;

/** Returns the files and lines of the stack, innermost first, without the message before it. */
function placesOf({ stack = "", message }: Error): string[] {
  const begin = stack.indexOf(message);
  if (begin < 0) return [];
  return stack
    .slice(begin + message.length)
    .split("\n")
    .flatMap((line) => PLACE.exec(line)?.[1] ?? [])
    .slice(0, PLACES_MAX);
}
