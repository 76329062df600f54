import { errorCode } from "../../domain/errors/index.ts";
import type { Logger } from "../telemetry/index.ts";

type FaultLog = Pick<Logger, "error">;

/**
 * Rejections and exceptions that nobody caught. The runtime would print them, with messages that hold URLs and so
 * queries: what is told instead is one log line with the fault's code and where in the code it came up. A rejection
 * ends nothing; after an exception the process can not be relied on, and ends.
 */
export class UncaughtFaults {
  #log: FaultLog = standardError;

  constructor() {
    process.on("unhandledRejection", (reason) => this.#log.error(fieldsOf(reason), "unhandled rejection"));
    process.on("uncaughtException", (error) => {
      this.#log.error(fieldsOf(error), "uncaught exception");
      process.exit(EXIT_FAILED);
    });
  }

  /** From now on they go to the log of a service that runs. */
  reportTo(log: FaultLog): void {
    this.#log = log;
  }
}

const EXIT_FAILED = 1;

/** Before there is a log. */
const standardError: FaultLog = {
  error(fields, message) {
    const line = { level: "error", timestamp: new Date().toISOString(), message, ...fields };
    process.stderr.write(`${JSON.stringify(line)}\n`);
  },
};

function fieldsOf(fault: unknown): { error_kind: "internal"; error_code: string; at: string[] } {
  if (!(fault instanceof Error)) return { error_kind: "internal", error_code: typeof fault, at: [] };
  return { error_kind: "internal", error_code: errorCode(fault) ?? fault.name, at: placesOf(fault) };
}

const PLACES_MAX = 5;
const PLACE = /^\s+at (?:.*[^\w.-])?([\w.-]+:\d+:\d+)\)?$/;

/** Files and lines, innermost first: those of the stack, none of the message that stands before it. */
function placesOf({ stack = "", message }: Error): string[] {
  const begin = stack.indexOf(message);
  if (begin < 0) return [];
  return stack
    .slice(begin + message.length)
    .split("\n")
    .flatMap((line) => PLACE.exec(line)?.[1] ?? [])
    .slice(0, PLACES_MAX);
}
