import { check, type Verdict } from "../checker/check.ts";
import { History, settled } from "../checker/history.ts";
import { type OwnershipAnswer, type OwnershipCall, ownership } from "../models/ownership.ts";
import { AS_OPERATOR, type Asked, askSurely, textIn, unexpected } from "./asking.ts";
import { newName } from "./names.ts";
import { type Field, type Recorder, together } from "./recorder.ts";
import { writesOf } from "./writes.ts";

const CLIENTS = 4;
const STEPS = 7;

/** Records the calls of clients that let three services claim and release one route. */
export const recordOwnership: Recorder = {
  name: ownership.name,
  async record(field): Promise<Verdict[]> {
    const name = newName("ownership");
    const services = ["a", "b", "c"].map((letter) => `${name}-${letter}`);
    const claims = new Claims(field, `/histories/${name}`);
    await together(CLIENTS, STEPS, () => {
      const service = services[field.random.below(services.length)] ?? name;
      return claims.change(field.random.chance(65) ? "claim" : "release", service);
    });
    // All services claim the route and none releases it, so all claims but one must be refused.
    for (const service of services) await claims.change("claim", service);
    return check(ownership, await claims.settled(services));
  },
};

class Claims {
  readonly #field: Field;
  readonly #path: string;
  readonly #history = new History<OwnershipCall, OwnershipAnswer>();

  constructor(field: Field, path: string) {
    this.#field = field;
    this.#path = path;
  }

  change(kind: OwnershipCall["kind"], service: string): Promise<unknown> {
    const call = { kind, path: this.#path, service, request_id: crypto.randomUUID() };
    const asked = this.#asked(call);
    return this.#history.record(call, async () => {
      const answered = await askSurely(this.#field.system.registries, this.#field.random, asked);
      if (answered === null) return null;
      const { status, body } = answered;
      // A 404 for a DELETE counts as a release: a service that does not exist owns no route.
      if (status < 300 || (status === 404 && asked.method === "DELETE")) return { kind: "done" };
      if (status !== 409) return unexpected(asked, answered);
      return { kind: "conflict", owner: textIn(body, "error", "details", "conflicts", 0, "owner") };
    });
  }

  /**
   * Returns the operations, with missing answers of writes filled in from the services' lists of revisions.
   */
  async settled(services: readonly string[]) {
    const writes = await Promise.all(services.map((service) => writesOf(this.#field, service)));
    return settled(this.#history.operations, ({ request_id }) =>
      writes.some((of) => of.has(request_id)) ? { kind: "done" } : null,
    );
  }

  #asked({ kind, service, request_id }: OwnershipCall): Asked {
    const path = `/services/${service}`;
    const headers = { ...AS_OPERATOR, "x-request-id": request_id };
    if (kind === "release" && this.#field.random.chance(50)) return { method: "DELETE", path, headers };
    // The faulty client claims a different route for each service, so the registry refuses no claim.
    const claimed = this.#field.isFaulty ? `${this.#path}/${service}` : this.#path;
    const paths = [`/histories/own/${service}`, ...(kind === "claim" ? [claimed] : [])];
    const routes = paths.map((route) => ({ path: route, methods: ["GET"] }));
    return { method: "PUT", path, headers, body: { url: "http://127.0.0.1:9", public: { routes } } };
  }
}
