export type { EtcdCluster } from "./etcd-server.ts";
export * from "./free-port.ts";
export * from "./hostile-settings.ts";
export type { PostgresNode, PostgresPair } from "./postgres-pair.ts";
export * from "./proxy.ts";
export * from "./rejection.ts";
export type { TestServer } from "./server.ts";
export {
  freshCounterStoreUrl,
  freshDatabase,
  freshRouteStoreUrl,
  services,
  startEtcd,
  startEtcdCluster,
  startPostgres,
  startPostgresPair,
  startRedis,
} from "./services.ts";
export * from "./silent-server.ts";
export * from "./start-process.ts";
export * from "./wait-for.ts";
