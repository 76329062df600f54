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
