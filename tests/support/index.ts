export * from "./http/free-port.ts";
export * from "./http/proxy.ts";
export * from "./http/silent-server.ts";
export * from "./processes/start-process.ts";
export * from "./rejection.ts";
export type { EtcdCluster } from "./stores/etcd-server.ts";
export * from "./stores/hostile-settings.ts";
export type { PostgresPair } from "./stores/postgres-pair.ts";
export type { TestServer } from "./stores/server.ts";
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
} from "./stores/services.ts";
export * from "./time/wait-for.ts";
