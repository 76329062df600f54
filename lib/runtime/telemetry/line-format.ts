import { inspect } from "node:util";
import pino from "pino";
import { systemClock } from "../../async/index.ts";

export const LEVELS = ["debug", "info", "warn", "error"] as const;
export type Level = (typeof LEVELS)[number];

type LineFormat = (level: Level, fields: object, message: string) => string;

/** JSON lines with `timestamp`, `level` and `message` (OP-36). */
export function jsonLines(service: string): LineFormat {
  const timestamp = timestampText();
  const base = `,"service":${JSON.stringify(service)}`;
  return (level, fields, message) =>
    `{"level":"${level}","timestamp":"${timestamp()}"${base}${spellFields(fields)},"message":${JSON.stringify(message)}}\n`;
}

/** Many lines have the same timestamp, so each millisecond is formatted once. */
function timestampText(): () => string {
  let spelledMs = Number.NaN;
  let text = "";
  return () => {
    const nowMs = systemClock.now();
    if (nowMs !== spelledMs) {
      spelledMs = nowMs;
      text = new Date(nowMs).toISOString();
    }
    return text;
  };
}

function spellFields(fields: object): string {
  const plain = "err" in fields ? { ...fields, err: errorFields(fields.err) } : fields;
  const spelled = JSON.stringify(plain);
  return spelled === "{}" ? "" : `,${spelled.slice(1, -1)}`;
}

function errorFields(error: unknown): unknown {
  return error instanceof Error ? pino.stdSerializers.err(error) : error;
}

const COLORS: Readonly<Record<Level, string>> = {
  debug: "\x1b[2m",
  info: "\x1b[32m",
  warn: "\x1b[33m",
  error: "\x1b[31m",
};
const DIM = "\x1b[2m";
const PLAIN = "\x1b[0m";
const LEVEL_LENGTH = 5;
const SERVICE_LENGTH = 8;

export function prettyLines(service: string, inColor: boolean): LineFormat {
  const timestamp = timestampText();
  const paint = (color: string, text: string) => (inColor ? `${color}${text}${PLAIN}` : text);
  return (level, fields, message) => {
    const time = paint(DIM, timestamp().slice("2026-01-01T".length, -1));
    const told = Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [`${paint(DIM, `${name}=`)}${shown(value)}`],
    );
    const head = `${time} ${paint(COLORS[level], level.padEnd(LEVEL_LENGTH))} ${service.padEnd(SERVICE_LENGTH)}`;
    return `${[head, oneLine(message), ...told].join(" ")}\n`;
  };
}

function shown(value: unknown): string {
  if (value instanceof Error) return `\n${value.stack ?? value.message}`;
  if (typeof value === "string") return /^[\w./:{}@+-]+$/.test(value) ? value : JSON.stringify(value);
  return typeof value === "object"
    ? inspect(value, { breakLength: Number.POSITIVE_INFINITY })
    : String(value);
}

/** Escapes control characters, because a client's input must not control the terminal. */
function oneLine(text: string): string {
  return JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
}
