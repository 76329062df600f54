import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";

/** Returns whether the file can be created or appended to. `-` stands for standard output. */
export function isAppendableFile(path: string): boolean {
  if (path === "-") return true;
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) return false;
    accessSync(found ? path : dirname(path), constants.W_OK);
    return found !== undefined || !path.endsWith("/");
  } catch {
    return false;
  }
}

export function isReadableFile(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

export function isReadableFolder(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.X_OK);
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
