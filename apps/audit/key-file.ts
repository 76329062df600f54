import { readFileSync, statSync } from "node:fs";
import type { ConfigProblem } from "@ostiary/lib/runtime/config";

/** The group may write the file, or other users have any access to it. */
const OPEN_MODE = 0o027;

/** The keys of a file, or what is wrong with the file, without its content. */
type KeyFile<Key> = { keys: Key[] } | { problem: string };

/**
 * Reads a file of keys that no other user may read or write.
 *
 * @param keysOf returns the keys of the file's text, or null for a text that breaks `rule`
 */
export function readKeyFile<Key>(
  path: string,
  { bytesMax, rule }: { bytesMax: number; rule: string },
  keysOf: (text: string) => Key[] | null,
): KeyFile<Key> {
  let text: string;
  try {
    const found = statSync(path);
    if (!found.isFile() || found.size > bytesMax) return { problem: rule };
    if ((found.mode & OPEN_MODE) !== 0) {
      return { problem: "names a file that other users may read or write: run chmod 600 on the file" };
    }
    text = readFileSync(path, "utf8");
  } catch {
    return { problem: "must be a file that this user may read" };
  }
  const keys = keysOf(text);
  return keys === null ? { problem: rule } : { keys };
}

/** Returns the problem of the file that a variable names, if it names one. */
export function keyFileProblems(
  variable: string,
  path: string | undefined,
  read: (path: string) => KeyFile<unknown>,
): ConfigProblem[] {
  const found = path === undefined ? null : read(path);
  return found !== null && "problem" in found ? [{ variable, message: `${found.problem}.` }] : [];
}
