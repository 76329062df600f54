/**
 * Gathers what is added in one turn of the event loop and hands it on together, at most `size_max` at a time:
 * under load a call of its own costs the client and the server several times what it costs among others.
 */
export class TurnBatch<Item> {
  readonly #handOn: (items: Item[]) => void;
  readonly #size_max: number;
  #items: Item[] = [];

  constructor(size_max: number, handOn: (items: Item[]) => void) {
    this.#size_max = size_max;
    this.#handOn = handOn;
  }

  add(item: Item): void {
    if (this.#items.length === this.#size_max) this.#items = [];
    if (this.#items.push(item) > 1) return;
    const items = this.#items;
    setImmediate(() => {
      if (this.#items === items) this.#items = [];
      this.#handOn(items);
    });
  }
}
