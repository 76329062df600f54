import { readmePath, schemas, sharedPath, withSharedTable, withTable } from "./readmes.ts";

/** Writes the tables of variables into the READMEs of the apps and the page of operations, from the sources. */
for (const app of Object.keys(schemas)) {
  const file = Bun.file(readmePath(app));
  await file.write(withTable(app, await file.text()));
}
const shared = Bun.file(sharedPath);
await shared.write(withSharedTable(await shared.text()));
