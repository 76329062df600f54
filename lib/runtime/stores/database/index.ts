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
export * from "./open.ts";
export { type Orm, rows } from "./orm.ts";
export { prepared, preparedRows, query } from "./prepared.ts";
export { migrateAtStart, openConfigured, openWithReads } from "./service-database.ts";
