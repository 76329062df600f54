import { test } from "bun:test";
import { type Internal, internals } from "./internals.ts";

/**
 * Defines the test of one of the {@link internals}. A failure names the changed library and the code that
 * depends on it.
 */
export function contract(name: keyof typeof internals, prove: () => unknown): void {
  const { library, does, usedIn, otherwise }: Internal = internals[name];
  test(`${library} ${does}`, async () => {
    try {
      await prove();
    } catch (cause) {
      const message = `${library} has changed. The product depends on an undocumented behavior: ${library} ${does}. Without it, ${otherwise}. Adapt ${usedIn.join(" and ")}.`;
      throw new Error(message, { cause });
    }
  });
}
