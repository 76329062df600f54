import { readmePath, schemas, withTable } from "./readmes.ts";

/** Writes the variable tables into the READMEs of the apps, after a change of the schemas. */
for (const app of Object.keys(schemas)) {
  const file = Bun.file(readmePath(app));
  await file.write(withTable(app, await file.text()));
}
