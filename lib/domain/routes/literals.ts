import type { RequestPath } from "./request-path.ts";

interface Literal {
  readonly literal: string;
  readonly hash: number;
}

/**
 * The literal children of one place, by hash with open addressing: a copy costs one array, however many there
 * are, and a look-up makes no string of the segment.
 */
export class Literals<Child extends Literal> {
  /** A power of two of slots, at most three quarters of them taken. */
  #slots: (Child | null)[];
  #size: number;

  constructor(slots: (Child | null)[] = [null, null], size = 0) {
    this.#slots = slots;
    this.#size = size;
  }

  get size(): number {
    return this.#size;
  }

  copy(): Literals<Child> {
    return new Literals(this.#slots.slice(), this.#size);
  }

  /** The child that a segment of a request meets. */
  metBy(path: RequestPath, level: number): Child | null {
    const hash = path.hash(level);
    for (let slot = this.#home(hash); ; slot = this.#next(slot)) {
      const child = this.#slots[slot] ?? null;
      if (child === null || (child.hash === hash && path.meets(level, child.literal))) return child;
    }
  }

  get(literal: string, hash: number): Child | null {
    return this.#slots[this.#slotOf(literal, hash)] ?? null;
  }

  /** Puts `child` in the place of the one with its literal. */
  set(child: Child): void {
    const slot = this.#slotOf(child.literal, child.hash);
    if (this.#slots[slot] === null) this.#size++;
    this.#slots[slot] = child;
    if (this.#size * 4 > this.#slots.length * 3) this.#resize(this.#slots.length * 2);
  }

  delete({ literal, hash }: Literal): void {
    let slot = this.#slotOf(literal, hash);
    if (this.#slots[slot] === null) return;
    this.#slots[slot] = null;
    this.#size--;
    // those behind it may stand there only because their own slots were taken
    for (slot = this.#next(slot); ; slot = this.#next(slot)) {
      const child = this.#slots[slot] ?? null;
      if (child === null) break;
      this.#slots[slot] = null;
      this.#slots[this.#slotOf(child.literal, child.hash)] = child;
    }
    if (this.#size * 8 < this.#slots.length && this.#slots.length > 2) this.#resize(this.#slots.length / 2);
  }

  *[Symbol.iterator](): Generator<Child> {
    for (const child of this.#slots) if (child !== null) yield child;
  }

  /** Where `literal` is, or would be. */
  #slotOf(literal: string, hash: number): number {
    for (let slot = this.#home(hash); ; slot = this.#next(slot)) {
      const child = this.#slots[slot] ?? null;
      if (child === null || (child.hash === hash && child.literal === literal)) return slot;
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
    for (const child of children) this.#slots[this.#slotOf(child.literal, child.hash)] = child;
  }
}
