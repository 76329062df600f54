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

const LEVELS = ["debug", "info", "warn", "error"] as const;

/**
 * JSON lines with `timestamp`, `level` and `message` (Gateway specification, Emitted signals). Lines are
 * written by the block, 200 ms late at most: a line costs no system call. They are spelled here: pino, whose
 * destination writes them, traces each of its own lines under Bun, and takes three times as long.
 */
export function createLog({ service, level, file }: LogOptions): LogSink {
  const dest = descriptorOf(file);
  const destination = pino.destination({ dest, sync: false });
  const blocks = new LineBlocks(destination, pino.destination({ dest, sync: true }));
  const timestamp = timestampField();
  const base = `,"service":${JSON.stringify(service)}`;
  const lines = (of: (typeof LEVELS)[number]) => {
    if (LEVELS.indexOf(of) < LEVELS.indexOf(level)) return () => {};
    return (fields: object, message: string) => {
      const spelled = `{"level":"${of}"${timestamp()}${base}${spellFields(fields)}`;
      blocks.write(`${spelled},"message":${JSON.stringify(message)}}\n`);
    };
  };
  return {
    log: { debug: lines("debug"), info: lines("info"), warn: lines("warn"), error: lines("error") },
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

/** Fields as JSON, behind a comma. */
function spellFields(fields: object): string {
  const plain = "err" in fields ? { ...fields, err: errorFields(fields.err) } : fields;
  const spelled = JSON.stringify(plain);
  return spelled === "{}" ? "" : `,${spelled.slice(1, -1)}`;
}

function errorFields(error: unknown): unknown {
  return error instanceof Error ? pino.stdSerializers.err(error) : error;
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
