import { isRecord } from "../domain/json/index.ts";
import type { JsonObject } from "../openapi/index.ts";

/** The cost of reading one value, in units. Reading one character of text costs 1. */
export const VALUE_COST = 16;

class OutOfWork extends Error {}

/**
 * Limits the work of processing services' descriptions. Reading a value or copying a character costs units. A
 * part that exceeds its limit is abandoned. After all units are spent, every part is abandoned.
 */
export class Work {
  #left: number;
  #partLeft = Number.POSITIVE_INFINITY;
  readonly #whole: Work | null;

  /** @param whole the parent, which is charged for this work too */
  constructor(units: number, whole: Work | null = null) {
    this.#left = units;
    this.#whole = whole;
  }

  /** Returns the result of `part`, or null if the part costs more than `units` or than the units left. */
  within<Result>(units: number, part: () => Result): Result | null {
    this.#partLeft = units;
    try {
      return part();
    } catch (error) {
      if (error instanceof OutOfWork) return null;
      throw error;
    } finally {
      this.#partLeft = Number.POSITIVE_INFINITY;
    }
  }

  /** Spends units. Throws if too few are left, which ends the current part. */
  spend(units: number): void {
    this.#partLeft -= units;
    this.#left -= units;
    if (this.#partLeft < 0 || this.#left < 0) throw new OutOfWork();
    this.#whole?.spend(units);
  }

  /** Returns the members of an object, or an empty list for any other value. */
  entries(value: unknown): [string, unknown][] {
    if (!isRecord(value)) return [];
    const entries = Object.entries(value);
    this.spend(entries.length * VALUE_COST);
    for (const [key] of entries) this.spend(key.length);
    return entries;
  }

  /** Returns the members that are objects. */
  records(value: unknown): [string, JsonObject][] {
    return this.entries(value).flatMap(([key, member]) => (isRecord(member) ? [[key, member]] : []));
  }

  /** Returns the items of an array, or an empty list for any other value. */
  items(value: unknown): readonly unknown[] {
    if (!Array.isArray(value)) return [];
    this.spend(value.length * VALUE_COST);
    return value;
  }

  /** Returns a text that is not empty, or undefined for any other value. */
  text(value: unknown): string | undefined {
    if (typeof value !== "string" || value === "") return undefined;
    this.spend(value.length);
    return value;
  }

  /** Returns whether a value contains no `$ref`. Readers of OpenAPI would follow a `$ref` anywhere. */
  isData(value: unknown): boolean {
    if (typeof value === "string") this.spend(value.length);
    if (Array.isArray(value)) return this.items(value).every((item) => this.isData(item));
    return this.entries(value).every(([key, member]) => key !== "$ref" && this.isData(member));
  }
}
