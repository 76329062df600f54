import { isRecord } from "../domain/json/index.ts";
import type { JsonObject } from "../openapi/index.ts";

/** The cost of reading one value, in units of {@link WorkBudget}. Reading a character of text costs one unit. */
export const VALUE_COST = 16;

class OutOfWork extends Error {}

/**
 * A budget for processing the description of one service. Reading a value or copying a character costs units. A
 * part that exceeds its limit is abandoned. After the whole budget is spent, every further part is abandoned.
 */
export class WorkBudget {
  #left: number;
  #partLeft = Number.POSITIVE_INFINITY;

  constructor(units: number) {
    this.#left = units;
  }

  /** Runs `part`. Returns null if it costs more than `units`, or more than the remaining budget. */
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

  /** Spends units. Throws if the budget is exceeded, which abandons the current part. */
  spend(units: number): void {
    this.#partLeft -= units;
    this.#left -= units;
    if (this.#partLeft < 0 || this.#left < 0) throw new OutOfWork();
  }

  entries(value: unknown): [string, unknown][] {
    if (!isRecord(value)) return [];
    const entries = Object.entries(value);
    this.spend(entries.length * VALUE_COST);
    for (const [key] of entries) this.spend(key.length);
    return entries;
  }

  records(value: unknown): [string, JsonObject][] {
    return this.entries(value).flatMap(([key, member]) => (isRecord(member) ? [[key, member]] : []));
  }

  items(value: unknown): readonly unknown[] {
    if (!Array.isArray(value)) return [];
    this.spend(value.length * VALUE_COST);
    return value;
  }

  /** Returns a non-empty text, or undefined for any other value. */
  text(value: unknown): string | undefined {
    if (typeof value !== "string" || value === "") return undefined;
    this.spend(value.length);
    return value;
  }

  /** Returns whether a value contains no `$ref`, which readers of OpenAPI would follow anywhere. */
  isData(value: unknown): boolean {
    if (typeof value === "string") this.spend(value.length);
    if (Array.isArray(value)) return this.items(value).every((item) => this.isData(item));
    return this.entries(value).every(([key, member]) => key !== "$ref" && this.isData(member));
  }
}
