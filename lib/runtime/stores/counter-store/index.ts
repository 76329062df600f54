export * from "../errors.ts";
export * from "../observer.ts";
export * from "./counter-store.ts";
export * from "./open-counter-store.ts";
