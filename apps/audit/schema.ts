import { shippedFile } from "@ostiary/lib/runtime/shipped-files";

/** Where the log is in its database, and how it came to be so. */
export const SCHEMA = "audit";
export const MIGRATIONS = shippedFile("drizzle/audit");
