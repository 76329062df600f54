import { readFileSync, statSync } from "node:fs";

/** The maximum size of a secret. A larger file is probably the wrong file. */
const SECRET_BYTES_MAX = 65_536;

type SecretFile = { value: string } | { message: string };

/**
 * Removes the line break that editors append. A pipe without a writer would block the start, so only plain files are
 * read. The problem completes a sentence that begins with the variable, and never quotes the file.
 */
export function readSecretFile(path: string): SecretFile {
  try {
    const found = statSync(path);
    if (!found.isFile()) return { message: "must be a plain file that holds the secret." };
    if (found.size > SECRET_BYTES_MAX)
      return { message: "names a file of more than 64 KiB, which is too long for a secret." };
    const value = readFileSync(path, "utf8").replace(/\r?\n$/, "");
    return value === "" ? { message: "names an empty file." } : { value };
  } catch {
    return { message: "must be a file that this user may read." };
  }
}
