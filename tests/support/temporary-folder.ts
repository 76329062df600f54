import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { leash } from "./services.ts";

/** Creates a folder below the system's temporary folder. The leash removes the folder after the test run. */
export function temporaryFolder(name: string): string {
  const path = mkdtempSync(join(tmpdir(), `ostiary-${name}-`));
  leash().directory(path);
  return path;
}
