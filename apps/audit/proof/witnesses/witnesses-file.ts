import { fits } from "@ostiary/lib/domain/errors";
import { withoutTrailingSlashes } from "@ostiary/lib/domain/routes";
import { type NoteKey, noteKeyText, readNoteKey, WITNESS_COSIGNATURE } from "@ostiary/lib/domain/tlog";
import { type ConfigProblem, integer, optionalText } from "@ostiary/lib/runtime/config";
import {
  entriesUnder,
  type FileProblem,
  parseYamlFile,
  problemsOfLoading,
  readTextFile,
} from "@ostiary/lib/runtime/config/yaml-file";
import { Type } from "@sinclair/typebox";
import { type TargetConfig, type TargetRules, targetRulesOf, urlProblem } from "../../receivers/targets.ts";

/** The environment variables of witnesses (AU-170). */
export const witnessVariables = {
  AUDIT_WITNESSES_FILE: optionalText("must be the path of a file of witnesses", {
    description:
      "YAML with the name, url and key of each witness that cosigns the signed roots of the log. Read at start. Needs AUDIT_SIGNING_KEY_FILE.",
  }),
  AUDIT_WITNESS_QUORUM: integer(
    { default: 1, min: 1, max: 32 },
    "The number of witnesses that must cosign a root before readers get it.",
  ),
  AUDIT_WITNESS_INTERVAL_MS: integer(
    { default: 5_000, min: 100, max: 3_600_000 },
    "The pause between two rounds in which witnesses are asked to cosign the newest root.",
  ),
};

const VARIABLE = "AUDIT_WITNESSES_FILE";
const WITNESSES_MAX = 32;

const Name = Type.String({
  pattern: "^[A-Za-z0-9._-]{1,64}$",
  rule: "must be 1 to 64 letters, digits, dots, hyphens and underscores",
});
const KeyText = Type.String({
  maxLength: 1_000,
  rule: "must be the verifier key of a witness, such as witness.example.com/w1+1a2b3c4d+BA…, in quotes",
});
const WitnessEntry = Type.Object(
  { name: Name, url: Type.String({ rule: "must be a URL" }), key: KeyText },
  { additionalProperties: false, rule: "must be a map with name, url and key" },
);
const WitnessesFileShape = Type.Object(
  {
    witnesses: Type.Array(WitnessEntry, {
      minItems: 1,
      maxItems: WITNESSES_MAX,
      rule: `must be a list of 1 to ${WITNESSES_MAX} witnesses`,
    }),
  },
  { additionalProperties: false, rule: "must be a map with the key witnesses" },
);

export interface Witness {
  name: string;
  /** The base address, to which `/add-checkpoint` is appended. */
  url: string;
  key: NoteKey;
  keyText: string;
}

/**
 * The environment variables that configure witnesses, and the variables of `TargetConfig`, which restrict the
 * addresses that the service may call.
 */
interface WitnessConfig extends TargetConfig {
  AUDIT_SIGNING_KEY_FILE?: string;
  AUDIT_WITNESSES_FILE?: string;
  AUDIT_WITNESS_QUORUM: number;
}

/** Checks the file of witnesses and the quorum for `loadConfig`, and returns every problem (AU-170). */
export function checkWitnesses(config: Partial<WitnessConfig>): ConfigProblem[] {
  const { AUDIT_WITNESSES_FILE: path, AUDIT_WITNESS_QUORUM: quorum = 1 } = config;
  if (path === undefined) return [];
  let count = Number.POSITIVE_INFINITY;
  const found = problemsOfLoading(() => {
    count = loadWitnesses(path, targetRulesOf(config)).length;
  });
  if (config.AUDIT_SIGNING_KEY_FILE === undefined) {
    found.push({ variable: "AUDIT_SIGNING_KEY_FILE", message: `is required if ${VARIABLE} is set.` });
  }
  if (quorum <= count) return found;
  const message = `is ${quorum}, and AUDIT_WITNESSES_FILE has ${count} witnesses: lower the quorum, or add witnesses.`;
  return [...found, { variable: "AUDIT_WITNESS_QUORUM", message }];
}

/**
 * Loads the file of witnesses.
 *
 * @throws ConfigError that names every wrong key with its line
 */
export function loadWitnesses(path: string, rules: TargetRules): readonly Witness[] {
  const text = readTextFile(VARIABLE, path);
  const { witnesses } = parseYamlFile(VARIABLE, WitnessesFileShape, text, (read, shape) => [
    ...shape,
    ...entryProblems(read, rules),
  ]);
  return witnesses.flatMap(({ name, url, key: text }) => {
    const key = readNoteKey(text);
    return key === null ? [] : [{ name, url: withoutTrailingSlashes(url), key, keyText: noteKeyText(key) }];
  });
}

/** Returns the problems of witnesses that the schema cannot find. */
function entryProblems(value: unknown, rules: TargetRules): FileProblem[] {
  const seen = { name: new Set<unknown>(), key: new Set<unknown>() };
  return entriesUnder("witnesses", value, WITNESSES_MAX).flatMap(({ index, entry }): FileProblem[] => {
    const at = `witnesses[${index}]`;
    const place = (field: string, why: string) => ({
      path: ["witnesses", index, field],
      message: `${at}.${field} ${why}`,
    });
    const url = typeof entry.url === "string" ? addressProblem(entry.url, rules) : null;
    const key = fits(KeyText, entry.key) ? keyProblem(entry.key) : null;
    // a cosignature does not contain the name: one key under two names would count twice
    const material = typeof entry.key === "string" ? readNoteKey(entry.key)?.publicKey.toHex() : undefined;
    const own = { name: entry.name, key: material ?? entry.key };
    const repeated = (["name", "key"] as const).filter((field) => {
      const isKnown = seen[field].has(own[field]) && typeof own[field] === "string";
      seen[field].add(own[field]);
      return isKnown;
    });
    return [
      ...(url === null ? [] : [place("url", url)]),
      ...(key === null ? [] : [place("key", key)]),
      ...repeated.map((field) => place(field, `occurs twice: each witness needs its own ${field}`)),
    ];
  });
}

function addressProblem(url: string, rules: TargetRules): string | null {
  const problem = urlProblem(url, rules);
  if (problem !== null) return problem.replace(/^url /, "").replace(/\.$/, "");
  return url.includes("?") ? "must not have a query" : null;
}

function keyProblem(text: string): string | null {
  const key = readNoteKey(text);
  if (key === null) return KeyText.rule;
  return key.type === WITNESS_COSIGNATURE
    ? null
    : "is the key of a log: use the key that the witness printed";
}
