import { test } from "bun:test";
import { type Internal, internals } from "./internals.ts";

/** Proves one of the {@link internals}. A failure says which library changed, and what depends on it. */
export function contract(name: keyof typeof internals, prove: () => unknown): void {
  const { library, does, used_in, otherwise }: Internal = internals[name];
  test(`${library} ${does}`, async () => {
    try {
      await prove();
    } catch (cause) {
      const message = `${library} has changed. The product relies on this: it ${does}. Otherwise ${otherwise}. Look at ${used_in.join(" and ")}.`;
      throw new Error(message, { cause });
    }
  });
}
