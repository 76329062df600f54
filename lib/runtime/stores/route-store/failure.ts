import {
  ClientClosedError,
  ClientRuntimeError,
  EtcdError,
  EtcdPermissionDeniedError,
  GRPCGenericError,
  GRPCInvalidArgumentError,
} from "etcd3";
import { StoreUnavailable } from "../errors.ts";

/** Throws `StoreUnavailable` if etcd did not answer, or denied the user a key, and any other error unchanged. */
export function throwRouteStoreFailure(error: unknown): never {
  if (error instanceof StoreUnavailable || error instanceof GRPCInvalidArgumentError) throw error;
  const absent =
    error instanceof GRPCGenericError ||
    error instanceof EtcdError ||
    error instanceof EtcdPermissionDeniedError ||
    error instanceof ClientRuntimeError ||
    error instanceof ClientClosedError;
  throw absent ? new StoreUnavailable("route_store", error) : error;
}
