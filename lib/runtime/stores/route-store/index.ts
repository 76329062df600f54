export * from "../errors.ts";
export * from "../observer.ts";
export { routeStoreBootFailure } from "../store-boot-failure.ts";
export * from "./open-route-store.ts";
export * from "./route-store.ts";
