import { openSync } from "node:fs";
import pino from "pino";
import { systemClock } from "../../async/index.ts";
import { ConfigError } from "../config/load.ts";
import { LineBlocks } from "./line-blocks.ts";

/** The part of pino's logger that services use. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A logger and the means to get its last lines out before the process ends. */
export interface LogSink {
  log: Logger;
  flush(): Promise<void>;
}

export interface LogOptions {
  /** `service.name`, on every line as `service`. */
  service: string;
  level: "debug" | "info" | "warn" | "error";
  /** A file that lines are appended to; `-`, or nothing, is standard output. */
  file?: string;
}

/**
 * JSON lines with `timestamp`, `level` and `message` (Gateway specification, Emitted signals). Lines are
 * written by the block, 200 ms late at most: a line costs no system call.
 */
export function createLog(options: LogOptions): LogSink {
  const dest = descriptorOf(options.file);
  const destination = pino.destination({ dest, sync: false });
  const blocks = new LineBlocks(destination, pino.destination({ dest, sync: true }));
  const log = pino(
    {
      level: options.level,
      messageKey: "message",
      base: { service: options.service },
      timestamp: timestampField(),
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: pino.stdSerializers.err },
    },
    blocks,
  );
  return {
    log,
    flush() {
      blocks.handOn();
      return flushed(destination);
    },
  };
}

/** Spells the time once a millisecond, which many lines share. */
function timestampField(): () => string {
  let spelled_ms = Number.NaN;
  let field = "";
  return () => {
    const now_ms = systemClock.now();
    if (now_ms !== spelled_ms) {
      spelled_ms = now_ms;
      field = `,"timestamp":"${new Date(now_ms).toISOString()}"`;
    }
    return field;
  };
}

/** The destination is drained once a write ends, also when lines came after it: those are written at once. */
function flushed(destination: ReturnType<typeof pino.destination>): Promise<void> {
  return new Promise((resolve) => {
    destination.flush(() => {
      destination.flushSync();
      resolve();
    });
  });
}

const STANDARD_OUTPUT = 1;

function descriptorOf(file: string | undefined): number {
  if (file === undefined || file === "-") return STANDARD_OUTPUT;
  try {
    return openSync(file, "a");
  } catch {
    throw new ConfigError([
      { variable: "LOG_FILE", message: "must be a file that this user may append to." },
    ]);
  }
}
