import { endOfString } from "../../domain/json/index.ts";
import type { Located } from "./located.ts";

/** The characters between the values of valid JSON. */
const BETWEEN = /[\s,:]*/y;
/** A number, true, false or null. */
const WORD = /[^\s,\]}]+/y;

/** Returns the places in a text of valid JSON, whose depth was bounded when it was parsed. */
export function jsonPlaces(text: string): Located {
  return new Reader(text).value();
}

class Reader {
  readonly #text: string;
  #index = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads a value. @param key the offset of the key of the value */
  value(key?: number): Located {
    this.#skip(BETWEEN);
    const offset = key ?? this.#index;
    const first = this.#text[this.#index];
    if (first === "{") return { offset, parts: this.#fields() };
    if (first === "[") return { offset, parts: this.#items() };
    if (first === '"') this.#string();
    else this.#skip(WORD);
    return { offset, parts: new Map() };
  }

  #fields(): Located["parts"] {
    const fields = new Map<string, Located>();
    for (this.#index++; !this.#ends("}"); ) {
      const start = this.#index;
      const key = this.#string();
      fields.set(key, this.value(start));
    }
    return fields;
  }

  #items(): Located["parts"] {
    const items = new Map<number, Located>();
    for (this.#index++; !this.#ends("]"); ) items.set(items.size, this.value());
    return items;
  }

  /** Skips what separates values. Returns whether the list or object ends, and reads its end. */
  #ends(end: string): boolean {
    this.#skip(BETWEEN);
    const isEnd = this.#text[this.#index] === end || this.#index >= this.#text.length;
    if (isEnd) this.#index++;
    return isEnd;
  }

  #string(): string {
    const start = this.#index;
    this.#index = endOfString(this.#text, start) + 1;
    return JSON.parse(this.#text.slice(start, this.#index));
  }

  #skip(pattern: RegExp): void {
    pattern.lastIndex = this.#index;
    pattern.test(this.#text);
    this.#index = pattern.lastIndex;
  }
}
