import { shippedFile } from "@ostiary/lib/runtime/shipped-files";

/** The PostgreSQL schema of the log, and its migrations. */
export const SCHEMA = "audit";
export const MIGRATIONS = shippedFile("drizzle/audit");
