import { setLogger } from "@grpc/grpc-js";
import { type Etcd3, GRPCResourceExhastedError, GRPCUnavailableError, isRecoverableError } from "etcd3";
import type { PeerTls } from "../../config/index.ts";
import { isTlsFault } from "../tls-fault.ts";
import { EtcdEndpoint, type EtcdUser } from "./etcd-endpoint.ts";
import { type CallTimes, hedgedCall, type Verdict } from "./hedged-call.ts";

export interface EtcdEndpointsOptions {
  /** Origins such as `http://localhost:2379`. */
  hosts: string[];
  auth?: EtcdUser;
  tls?: PeerTls;
}

/**
 * The nodes of one etcd. Calls go to the node that answered last, and to others when it does not: so a call can
 * be carried out more than once, also after it was answered, and must do no harm then.
 */
export class EtcdEndpoints {
  readonly #endpoints: readonly EtcdEndpoint[];
  #preferred: number;

  constructor({ hosts, auth, tls }: EtcdEndpointsOptions) {
    // what the library under etcd3 would print on stderr comes back as errors of calls too
    setLogger({});
    this.#endpoints = hosts.map((host) => new EtcdEndpoint(host, auth, tls));
    this.#preferred = Math.floor(Math.random() * hosts.length);
  }

  /** The first answer, and the client of the node that gave it. */
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
  const refused = error.message.includes("ECONNREFUSED") || isTlsFault(error.message);
  if (error instanceof GRPCUnavailableError && refused) return "refused";
  // an etcd that is out of space, or has too much to do, says so as a whole: there is no use in asking on
  const isFull = error instanceof GRPCResourceExhastedError;
  return isRecoverableError(error) && !isFull ? "unanswered" : "answered";
}
