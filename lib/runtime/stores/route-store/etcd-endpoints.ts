import { setLogger } from "@grpc/grpc-js";
import { type Etcd3, GRPCResourceExhastedError, GRPCUnavailableError, isRecoverableError } from "etcd3";
import type { PeerTls } from "../../config/index.ts";
import { isTlsError } from "../tls-error.ts";
import type { EtcdUser } from "./etcd-client.ts";
import { EtcdEndpoint } from "./etcd-endpoint.ts";
import { type CallTimes, hedgedCall, type Verdict } from "./hedged-call.ts";

export interface EtcdEndpointsOptions {
  /** The origins of the nodes, such as `http://localhost:2379`. */
  hosts: string[];
  auth?: EtcdUser;
  tls?: PeerTls;
}

/**
 * The nodes of one etcd cluster. A call goes to the node that answered last. If this node does not answer,
 * the call also goes to other nodes. A call can therefore run more than once, even after its response, so
 * calls must be idempotent.
 */
export class EtcdEndpoints {
  readonly #endpoints: readonly EtcdEndpoint[];
  #preferred: number;

  constructor({ hosts, auth, tls }: EtcdEndpointsOptions) {
    // Turn off the log of the library under etcd3. It prints errors on stderr, and calls return these errors
    // anyway.
    setLogger({});
    this.#endpoints = hosts.map((host) => new EtcdEndpoint(host, auth, tls));
    this.#preferred = Math.floor(Math.random() * hosts.length);
  }

  /** Returns the first response, and the client of the node that sent it. */
  async ask<T>(
    times: CallTimes,
    call: (client: Etcd3, deadline: number) => Promise<T>,
  ): Promise<{ value: T; client: Etcd3 }> {
    const first = this.#preferred;
    const order = [...this.#endpoints.slice(first), ...this.#endpoints.slice(0, first)];
    const { value, endpoint } = await hedgedCall({
      ...times,
      order,
      attempt: (each, deadline) => each.call(call, deadline),
      verdictOn,
    });
    this.#preferred = this.#endpoints.indexOf(endpoint);
    return { value, client: endpoint.client };
  }

  close(): void {
    for (const endpoint of this.#endpoints) endpoint.close();
  }
}

function verdictOn(error: Error): Verdict {
  const refused = error.message.includes("ECONNREFUSED") || isTlsError(error.message);
  if (error instanceof GRPCUnavailableError && refused) return "refused";
  // An etcd that is full or overloaded refuses calls on all nodes, so no other node is asked.
  const isFull = error instanceof GRPCResourceExhastedError;
  return isRecoverableError(error) && !isFull ? "unanswered" : "answered";
}
