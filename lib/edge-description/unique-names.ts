export class UniqueNames {
  readonly #taken: Set<string>;
  readonly #keyOf: (name: string) => string;
  /** The last number that was appended to each name, so that a later call does not try all numbers again. */
  readonly #counts = new Map<string, number>();

  /** @param keyOf maps a name to the key that must be unique */
  constructor(taken: Iterable<string>, keyOf = (name: string) => name) {
    this.#keyOf = keyOf;
    this.#taken = new Set([...taken].map(keyOf));
  }

  /** Returns `wanted`, with a number appended if the name is taken. */
  take(wanted: string): string {
    const key = this.#keyOf(wanted);
    let count = this.#counts.get(key) ?? 1;
    let name = count === 1 ? wanted : `${wanted}${count}`;
    while (this.#taken.has(this.#keyOf(name))) name = `${wanted}${++count}`;
    this.#counts.set(key, count);
    this.#taken.add(this.#keyOf(name));
    return name;
  }
}

/** Converts a text to Pascal case: `service-account list` → `ServiceAccountList`. */
export function pascalCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}
