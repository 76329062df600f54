export * from "../errors.ts";
export * from "../observer.ts";
export * from "./database.ts";
export * from "./open.ts";
export * from "./sql-state.ts";
