import { VALIDATE_PATH } from "@ostiary/lib/contracts/internal-api";
import type { Random } from "../../../support/random.ts";
import { AS_SERVICE, type Asked, askSurely, insist, type ServiceResponse, textIn } from "./asking.ts";
import type { Replica } from "./replica.ts";

export interface Founder {
  readonly user_id: string;
  readonly organization_id: string;
  readonly member_id: string;
}

export interface Key {
  readonly id: string;
  readonly secret: string;
}

/** A client of the identity service, which calls all replicas. */
export class Directory {
  readonly #replicas: readonly Replica[];
  readonly #issuer: string;
  readonly #random: Random;

  constructor(replicas: readonly Replica[], issuer: string, random: Random) {
    this.#replicas = replicas;
    this.#issuer = issuer;
    this.#random = random;
  }

  /** Sends a request once. Returns null if it is unknown whether the request took effect. */
  ask(asked: Asked): Promise<ServiceResponse | null> {
    return askSurely(this.#replicas, this.#random, { ...asked, headers: AS_SERVICE });
  }

  /** Repeats a request until it succeeds or gets the status `done`. */
  insist(asked: Asked, done?: number): Promise<ServiceResponse> {
    return insist(this.#replicas, this.#random, { ...asked, headers: AS_SERVICE }, done);
  }

  async person(subject = newName("person")): Promise<string> {
    const idp = this.idpOf(subject);
    const asked: Asked = { method: "POST", path: VALIDATE_PATH, port: "internal", body: { idp } };
    return textIn((await this.insist(asked)).body, "user_id");
  }

  idpOf(subject: string) {
    return { issuer: this.#issuer, subject };
  }

  async found(): Promise<Founder> {
    const user_id = await this.person();
    const path = `/users/${user_id}/organizations`;
    const { body, headers } = await this.insist({ method: "POST", path, body: { name: newName("org") } });
    const member_id = headers.get("x-platform-audit-member") ?? "";
    return { user_id, organization_id: textIn(body, "id"), member_id };
  }

  async key(member_id: string): Promise<Key> {
    const path = `/members/${member_id}/api-keys`;
    const { body } = await this.insist({ method: "POST", path, body: {} });
    return { id: textIn(body, "id"), secret: textIn(body, "key") };
  }
}

export function newName(kind: string): string {
  return `${kind}-${crypto.randomUUID()}`;
}
