import { freshDatabase, services } from "../support/index.ts";
import { describeDatabase } from "./database-suite.ts";

describeDatabase("PGlite", async () => "pglite://memory");
if (services().postgres.real) {
  let url: Promise<string> | undefined;
  describeDatabase("PostgreSQL", () => {
    url ??= freshDatabase();
    return url;
  });
}
