/** The `Vary` header of a response: the request headers on which the response depends (RFC 9110, 12.5.5). */
export class Vary {
  /** The value for a response whose service sends no `Vary`. */
  readonly value: string;
  readonly #names: readonly string[];

  constructor(names: readonly string[]) {
    this.#names = names;
    this.value = names.join(", ");
  }

  /** Returns a service's `Vary` with the missing names added. A `*` already covers every name. */
  mergedWith(vary: string): string {
    const known = new Set(vary.split(",").map((name) => name.trim().toLowerCase()));
    if (known.has("*")) return vary;
    const missing = this.#names.filter((name) => !known.has(name.toLowerCase()));
    return [vary, ...missing].join(", ");
  }
}
