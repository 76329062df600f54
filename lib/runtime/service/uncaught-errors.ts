import { systemErrorCode } from "../../domain/errors/index.ts";
import type { Logger } from "../telemetry/index.ts";

type ErrorLog = Pick<Logger, "error">;

/**
 * Logs uncaught errors by code and place: a message can contain URLs with their queries. The process survives a
 * rejection. It exits after an exception, because its state is unreliable then. Returns a function that sets the log.
 */
export function reportUncaughtErrors(): (log: ErrorLog) => void {
  let log = standardError;
  process.on("unhandledRejection", (reason) => log.error(fieldsOf(reason), "unhandled rejection"));
  process.on("uncaughtException", (error) => {
    log.error(fieldsOf(error), "uncaught exception");
    process.exit(EXIT_FAILED);
  });
  return (better) => {
    log = better;
  };
}

const EXIT_FAILED = 1;

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

/** Returns the places in the stack, innermost first, without the message at its start. */
function placesOf({ stack = "", message }: Error): string[] {
  const begin = stack.indexOf(message);
  if (begin < 0) return [];
  return stack
    .slice(begin + message.length)
    .split("\n")
    .flatMap((line) => PLACE.exec(line)?.[1] ?? [])
    .slice(0, PLACES_MAX);
}
