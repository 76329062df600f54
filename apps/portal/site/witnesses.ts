import { type NoteKey, noteKeyText } from "@ostiary/lib/domain/tlog";
import { ConfigError, type ConfigProblem } from "@ostiary/lib/runtime/config";
import { problemsOfLoading, readTextFile } from "@ostiary/lib/runtime/config/yaml-file";
import { NotKeys, readWitnessKeys } from "@ostiary/lib/verification";
import type { PortalConfig } from "../config.ts";
import type { WitnessSettings } from "../page/settings.ts";

const VARIABLE = "PORTAL_WITNESS_KEYS_FILE";
/** The environment variables that require PORTAL_WITNESS_KEYS_FILE. */
const DEPENDENT = ["PORTAL_WITNESS_QUORUM", "PORTAL_WITNESS_ORIGIN"] as const;

type WitnessVariables = Pick<PortalConfig, typeof VARIABLE | (typeof DEPENDENT)[number]>;

/**
 * Returns the witnesses that must have cosigned each log. Returns null if the portal requires no witnesses.
 */
export function loadWitnesses(config: WitnessVariables): WitnessSettings | null {
  const { PORTAL_WITNESS_KEYS_FILE: path } = config;
  if (path === undefined) return null;
  const keys = readKeys(path).map(noteKeyText);
  return {
    keys,
    quorum: config.PORTAL_WITNESS_QUORUM ?? keys.length,
    origin: config.PORTAL_WITNESS_ORIGIN ?? null,
  };
}

/** Returns every problem of the environment variables for witnesses, for `loadConfig` (PT-71). */
export function checkWitnesses(config: Partial<WitnessVariables>): ConfigProblem[] {
  const { PORTAL_WITNESS_KEYS_FILE: path, PORTAL_WITNESS_QUORUM: quorum } = config;
  if (path === undefined) {
    const given = DEPENDENT.filter((variable) => config[variable] !== undefined);
    return given.map((variable) => ({
      variable,
      message: `needs ${VARIABLE}, the file with the keys of the witnesses.`,
    }));
  }
  let count = Number.POSITIVE_INFINITY;
  const found = problemsOfLoading(() => {
    count = readKeys(path).length;
  });
  if (quorum === undefined || quorum <= count) return found;
  const message = `is ${quorum}, but ${VARIABLE} has ${count} keys: lower the quorum, or add keys.`;
  return [...found, { variable: "PORTAL_WITNESS_QUORUM", message }];
}

/**
 * Reads the verifier keys from the file.
 *
 * @throws ConfigError if the file cannot be read or has an invalid line
 */
function readKeys(path: string): readonly NoteKey[] {
  try {
    return readWitnessKeys(readTextFile(VARIABLE, path));
  } catch (error) {
    if (!(error instanceof NotKeys)) throw error;
    const message = `${error.line === 0 ? "" : `line ${error.line} `}${error.message}.`;
    throw new ConfigError([{ variable: VARIABLE, message }]);
  }
}
