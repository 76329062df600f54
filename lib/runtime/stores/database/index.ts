export * from "../errors.ts";
export * from "../observer.ts";
export * from "./database.ts";
export { lacksPrivilege, sqlState } from "./failure.ts";
export * from "./open-database.ts";
export { type Orm, rows } from "./orm.ts";
export { prepared, preparedRows, query } from "./prepared.ts";
export { migrateAtStart, openConfigured, openWithReads } from "./service-database.ts";
