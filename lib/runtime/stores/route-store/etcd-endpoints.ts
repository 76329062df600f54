import { setLogger } from "@grpc/grpc-js";
import { type Etcd3, GRPCResourceExhastedError, GRPCUnavailableError, isRecoverableError } from "etcd3";
import type { PeerTls } from "../../config/index.ts";
import { isTlsError } from "../tls-error.ts";
import type { EtcdUser } from "./etcd-client.ts";
import { EtcdEndpoint } from "./etcd-endpoint.ts";
import { type CallTimes, hedgedCall, type Verdict } from "./hedged-call.ts";

export interface EtcdEndpointsOptions {
  /** The origins, such as `http://localhost:2379`. */
  hosts: string[];
  auth?: EtcdUser;
  tls?: PeerTls;
}

/**
 * The nodes of one etcd. Calls go to the node that answered last, and to others if it does not answer. A call
 * can therefore run more than once, even after its answer, so repeats must be harmless.
 */
export class EtcdEndpoints {
  readonly #endpoints: readonly EtcdEndpoint[];
  #preferred: number;

  constructor({ hosts, auth, tls }: EtcdEndpointsOptions) {
    // Silences the library under etcd3, which prints errors on stderr that calls return anyway.
    setLogger({});
    this.#endpoints = hosts.map((host) => new EtcdEndpoint(host, auth, tls));
    this.#preferred = Math.floor(Math.random() * hosts.length);
  }

  /** Returns the first answer, and the client of the node that gave it. */
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
  // If etcd is full or overloaded, all nodes refuse, so the other nodes are not asked.
  const isFull = error instanceof GRPCResourceExhastedError;
  return isRecoverableError(error) && !isFull ? "unanswered" : "answered";
}
