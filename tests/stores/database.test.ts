import { freshDatabase, services } from "../support/index.ts";
import { describeDatabase } from "./database-suite.ts";

describeDatabase("PGlite", async () => "pglite://memory");
if (services().postgres.real) describeDatabase("PostgreSQL", freshDatabase);
