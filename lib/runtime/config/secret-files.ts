import { readFileSync, statSync } from "node:fs";

/** A secret is a line: what is larger is another file than the one that was meant. */
const SECRET_BYTES_MAX = 65_536;

export type SecretFile = { value: string } | { message: string };

/**
 * The secret that a file holds, without the line end that editors and `echo` add. Only plain files are read: a
 * pipe that nobody writes to would hold up the start. What is refused is told as the rest of a sentence that
 * begins with the variable's name; it never carries anything of the file.
 */
export function readSecretFile(path: string): SecretFile {
  try {
    const found = statSync(path);
    if (!found.isFile()) return { message: "must be a plain file that holds the secret." };
    if (found.size > SECRET_BYTES_MAX)
      return { message: "names a file of more than 64 KiB, which is no secret." };
    const value = readFileSync(path, "utf8").replace(/\r?\n$/, "");
    return value === "" ? { message: "names an empty file." } : { value };
  } catch {
    return { message: "must be a file that this user may read." };
  }
}
