import { fits } from "@ostiary/lib/domain/errors";
import { LOG_SIGNATURE, type NoteKey, readNoteKey } from "@ostiary/lib/domain/tlog";
import type { ConfigProblem } from "@ostiary/lib/runtime/config";
import {
  entriesUnder,
  type FileProblem,
  parseYamlFile,
  problemsOfLoading,
  readTextFile,
} from "@ostiary/lib/runtime/config/yaml-file";
import { Type } from "@sinclair/typebox";

const VARIABLE = "WITNESS_LOGS_FILE";
const LOGS_MAX = 1_000;
const KEYS_MAX = 8;

const Origin = Type.String({
  pattern: "^[\\x21-\\x7e]{1,255}$",
  rule: "must be the origin of a log: 1 to 255 visible ASCII characters",
});
const VerifierKeyText = Type.String({
  maxLength: 1_000,
  rule: "must be a verifier key such as log.example.com+1a2b3c4d+AQ…, in quotes",
});
const LogEntry = Type.Object(
  {
    origin: Origin,
    keys: Type.Array(VerifierKeyText, {
      minItems: 1,
      maxItems: KEYS_MAX,
      rule: `must be a list of 1 to ${KEYS_MAX} verifier keys`,
    }),
  },
  { additionalProperties: false, rule: "must be a map with origin and keys" },
);
const LogsFileShape = Type.Object(
  {
    logs: Type.Array(LogEntry, {
      minItems: 1,
      maxItems: LOGS_MAX,
      rule: `must be a list of 1 to ${LOGS_MAX} logs`,
    }),
  },
  { additionalProperties: false, rule: "must be a map with the key logs" },
);

/** The keys that may sign tree heads, by the origin of their log. */
export type KnownLogs = ReadonlyMap<string, readonly NoteKey[]>;

/** Checks the file of logs for `loadConfig` and returns every problem. */
export function checkLogsFile({ WITNESS_LOGS_FILE }: { WITNESS_LOGS_FILE?: string }): ConfigProblem[] {
  if (WITNESS_LOGS_FILE === undefined) return [];
  return problemsOfLoading(() => loadLogsFile(WITNESS_LOGS_FILE));
}

/**
 * Loads the file of logs.
 *
 * @throws ConfigError that names every wrong key with its line
 */
export function loadLogsFile(path: string): KnownLogs {
  const { logs } = parseYamlFile(VARIABLE, LogsFileShape, readTextFile(VARIABLE, path), (read, shape) => [
    ...shape,
    ...repeatedOrigins(read),
    ...keyProblems(read),
  ]);
  return new Map(logs.map(({ origin, keys }) => [origin, keys.flatMap((key) => readNoteKey(key) ?? [])]));
}

/** Returns the logs of a file that may have other problems, each with its index. */
const entriesOf = (value: unknown) => entriesUnder("logs", value, LOGS_MAX);

function repeatedOrigins(value: unknown): FileProblem[] {
  const seen = new Set<unknown>();
  return entriesOf(value).flatMap(({ index, entry: { origin } }) => {
    const isRepeated = seen.has(origin) && fits(Origin, origin);
    seen.add(origin);
    const message = `logs[${index}].origin occurs twice: list all keys of a log under one origin`;
    return isRepeated ? [{ path: ["logs", index, "origin"], message }] : [];
  });
}

function keyProblems(value: unknown): FileProblem[] {
  return entriesOf(value).flatMap(({ index, entry: { keys } }) => {
    if (!Array.isArray(keys)) return [];
    return keys.slice(0, KEYS_MAX).flatMap((text: unknown, at) => {
      if (!fits(VerifierKeyText, text)) return [];
      const why = keyProblem(text);
      if (why === null) return [];
      return [{ path: ["logs", index, "keys", at], message: `logs[${index}].keys[${at}] ${why}` }];
    });
  });
}

function keyProblem(text: string): string | null {
  const key = readNoteKey(text);
  if (key === null) return VerifierKeyText.rule;
  return key.type !== LOG_SIGNATURE ? "is the key of a witness: use the key of the log" : null;
}
