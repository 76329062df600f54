export * from "../errors.ts";
export * from "../observer.ts";
export {
  claimFolder,
  claimHolder,
  claimPath,
  FolderInUse,
  openFolder,
  UnusableFolder,
} from "./data-folder.ts";
export * from "./database.ts";
export { lacksPrivilege, sqlState } from "./failure.ts";
export { followingIds } from "./following-ids.ts";
export { migrateAtStart } from "./newer-database.ts";
export * from "./open.ts";
export { type Orm, rows } from "./orm.ts";
export { prepared, preparedRows } from "./prepared.ts";
export { query } from "./query.ts";
export { openConfigured, openWithReads } from "./service-database.ts";
