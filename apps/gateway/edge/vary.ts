/** Request headers that a response depends on, for its `Vary` header (RFC 9110, 12.5.5). */
export class Vary {
  /** The value for a response whose service sends no `Vary`. */
  readonly value: string;
  readonly #names: readonly string[];

  constructor(names: readonly string[]) {
    this.#names = names;
    this.value = names.join(", ");
  }

  /** Returns `said`, a service's `Vary`, with the missing names added. `*` covers every name. */
  mergedWith(said: string): string {
    const known = new Set(said.split(",").map((name) => name.trim().toLowerCase()));
    if (known.has("*")) return said;
    const missing = this.#names.filter((name) => !known.has(name.toLowerCase()));
    return [said, ...missing].join(", ");
  }
}
