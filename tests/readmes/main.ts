import { errorsPath, withMessages } from "./errors.ts";
import { readmePath, schemas, withTable } from "./readmes.ts";

/** Writes the variable tables into the READMEs of the apps, and the messages into ERRORS.md, from the sources. */
for (const app of Object.keys(schemas)) {
  const file = Bun.file(readmePath(app));
  await file.write(withTable(app, await file.text()));
}
const errors = Bun.file(errorsPath);
await errors.write(await withMessages(await errors.text()));
