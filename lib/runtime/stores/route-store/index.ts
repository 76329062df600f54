export { routeStoreBootFailure } from "../boot-failure.ts";
export * from "../errors.ts";
export * from "../observer.ts";
export * from "./open.ts";
export * from "./route-store.ts";
