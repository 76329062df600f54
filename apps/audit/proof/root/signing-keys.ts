import { LOG_SIGNATURE, type NoteKey, noteKeyText } from "@ostiary/lib/domain/tlog";
import { loadSigningKeyFile, signingKeyFileProblems } from "./signing-key-file.ts";

const VARIABLE = "AUDIT_SIGNING_KEY_FILE";

/** A key that signs the roots of the tree. */
interface LogKey {
  key: NoteKey;
  privateKey: CryptoKey;
}

/** The keys of a log, at least one. All of them sign while one replaces another. */
export type LogKeys = readonly LogKey[];

/** Returns the problems of the key file. A check for `loadConfig`. */
export const checkSigningKeyFile = ({ AUDIT_SIGNING_KEY_FILE }: { AUDIT_SIGNING_KEY_FILE?: string }) =>
  signingKeyFileProblems(VARIABLE, AUDIT_SIGNING_KEY_FILE);

/** Loads the keys of a file that {@link checkSigningKeyFile} accepts, for a log of this name; null without a file. */
export async function loadLogKeys(path: string | undefined, origin: string): Promise<LogKeys | null> {
  if (path === undefined) return null;
  const keys = await loadSigningKeyFile(VARIABLE, path);
  return keys.map(({ privateKey, publicKey }) => ({
    key: { name: origin, type: LOG_SIGNATURE, publicKey },
    privateKey,
  }));
}

/** Returns the keys as verifier keys: `name+hash+key`. */
export function verifierKeys(keys: LogKeys | null): string[] {
  return (keys ?? []).map(({ key }) => noteKeyText(key));
}
