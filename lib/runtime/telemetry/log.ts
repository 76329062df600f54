import { openSync } from "node:fs";
import { isatty } from "node:tty";
import { ConfigError } from "../config/load.ts";
import { LineBlocks } from "./line-blocks.ts";
import { jsonLines, LEVELS, type Level, prettyLines } from "./line-format.ts";

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
  /** Lines that found no room, since nobody read. */
  readonly dropped: number;
  /** Logs from `debug` on, or again from the level that it began with; tells the log. */
  switchLevel(): void;
  flush(): Promise<void>;
}

export interface LogOptions {
  /** `service.name`, on every line as `service`. */
  service: string;
  level: Level;
  /** A file that lines are appended to; `-`, or nothing, is standard output. */
  file?: string;
  /** `pretty` is for terminals. */
  format?: "json" | "pretty";
  /** Colors, where the destination is a terminal. */
  color?: boolean;
}

/**
 * Lines are written by the block, 200 ms late at most: a line costs no system call. They are spelled here: pino,
 * whose destination writes them, traces each of its own lines under Bun, and takes three times as long.
 */
export function createLog({ service, level, file, format, color = true }: LogOptions): LogSink {
  const dest = descriptorOf(file);
  const blocks = new LineBlocks(dest, (lines) =>
    log.warn({ lines }, "log lines were dropped: nobody read them"),
  );
  const spell = format === "pretty" ? prettyLines(service, color && isatty(dest)) : jsonLines(service);
  const usual = LEVELS.indexOf(level);
  let lowest = usual;
  const lines = (of: Level) => {
    const rank = LEVELS.indexOf(of);
    return (fields: object, message: string) => {
      if (rank >= lowest) blocks.write(spell(of, fields, message));
    };
  };
  const log = { debug: lines("debug"), info: lines("info"), warn: lines("warn"), error: lines("error") };
  return {
    log,
    get dropped() {
      return blocks.dropped;
    },
    switchLevel() {
      lowest = lowest === usual ? 0 : usual;
      blocks.write(spell("info", { log_level: LEVELS[lowest] }, "the log level is switched"));
    },
    flush: () => blocks.flush(),
  };
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
