/** Counts how often a value is read: each member of an object and each item of an array, at any depth. */
export class CountedReads {
  reads = 0;
  /** The proxy of each object, because the code under test compares objects by identity. */
  readonly #proxies = new WeakMap<object, object>();

  of(value: unknown): unknown {
    if (typeof value !== "object" || value === null) return value;
    const known = this.#proxies.get(value);
    if (known !== undefined) return known;
    const proxy = new Proxy(value, {
      get: (target, key) => {
        this.reads++;
        return this.of(Reflect.get(target, key));
      },
      ownKeys: (target) => {
        const keys = Reflect.ownKeys(target);
        this.reads += keys.length;
        return keys;
      },
    });
    this.#proxies.set(value, proxy);
    return proxy;
  }
}
