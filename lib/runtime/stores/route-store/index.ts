export { routeStoreBootFailure } from "../boot-failure.ts";
export * from "../errors.ts";
export * from "../observer.ts";
export * from "./open-route-store.ts";
export * from "./route-store.ts";
