import { errorCode } from "../../domain/errors/index.ts";
import type { Logger } from "../telemetry/index.ts";

type ErrorLog = Pick<Logger, "error">;

/**
 * Reports uncaught rejections and exceptions. A report is one log line with the error's code and its places
 * in the source. The message is omitted, because it can contain URLs with their queries. The process survives
 * a rejection. After an exception the process is unreliable and exits.
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

/** The log until a service has its own: lines on standard error. */
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
