import {
  ClientClosedError,
  ClientRuntimeError,
  EtcdError,
  GRPCGenericError,
  GRPCInvalidArgumentError,
} from "etcd3";
import { StoreUnavailable } from "../errors.ts";

/** Returns `StoreUnavailable` if etcd did not answer, or the error itself for a refused request. */
export function routeStoreFailure(error: unknown): unknown {
  if (error instanceof StoreUnavailable || error instanceof GRPCInvalidArgumentError) return error;
  const absent =
    error instanceof GRPCGenericError ||
    error instanceof EtcdError ||
    error instanceof ClientRuntimeError ||
    error instanceof ClientClosedError;
  return absent ? new StoreUnavailable("route_store", error) : error;
}

/** Returns whether the revision was compacted. etcd has no typed error for it. */
export function isCompacted(error: unknown): boolean {
  return error instanceof Error && error.message.includes("required revision has been compacted");
}
