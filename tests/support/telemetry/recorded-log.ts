import type { Logger } from "@ostiary/lib/runtime/telemetry";

interface RecordedLine {
  level: string;
  message: string;
  fields: Record<string, unknown>;
}

/** Returns a log, and the lines that were written to it. */
export function recordedLog(): { log: Logger; lines: RecordedLine[] } {
  const lines: RecordedLine[] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, message, fields: { ...fields } });
  return { log: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") }, lines };
}
