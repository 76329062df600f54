import {
  ClientClosedError,
  ClientRuntimeError,
  EtcdError,
  GRPCGenericError,
  GRPCInvalidArgumentError,
} from "etcd3";
import { StoreUnavailable } from "../errors.ts";

/** `StoreUnavailable` for whatever kept etcd from answering; the error itself for a request it refused. */
export function routeStoreFailure(error: unknown): unknown {
  if (error instanceof StoreUnavailable || error instanceof GRPCInvalidArgumentError) return error;
  const absent =
    error instanceof GRPCGenericError ||
    error instanceof EtcdError ||
    error instanceof ClientRuntimeError ||
    error instanceof ClientClosedError;
  return absent ? new StoreUnavailable("route_store", error) : error;
}

/** etcd has no typed error for this. */
export function isCompacted(error: unknown): boolean {
  return error instanceof Error && error.message.includes("required revision has been compacted");
}
