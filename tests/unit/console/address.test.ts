import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fragmentOf, titleOf, type View, viewAt } from "../../../apps/console/console-address.ts";
import { wordsOf } from "../../support/words.ts";

const view: fc.Arbitrary<View> = fc.oneof(
  fc.constantFrom<View>(
    { name: "routes" },
    { name: "services" },
    { name: "deleted" },
    { name: "changes" },
    { name: "lookup" },
    { name: "apply" },
    { name: "gateways" },
    { name: "operators" },
  ),
  // Any text, because the registry may hold services with names from before the current rules.
  fc.record({ name: fc.constant("service" as const), service: fc.string({ minLength: 1, unit: "binary" }) }),
  fc.record({
    name: fc.constant("revisions" as const),
    service: fc.string({ minLength: 1, unit: "grapheme" }),
    revision: fc.option(fc.integer({ min: 1, max: 999_999_999 })),
  }),
);

describe("the fragment of the console URL", () => {
  test("of every view leads back to the same view", () => {
    fc.assert(
      fc.property(view, (shown) => {
        // A URL cannot contain a lone surrogate, so titles with one are skipped.
        fc.pre(titleOf(shown).isWellFormed());
        expect(viewAt(fragmentOf(shown))).toEqual(shown);
      }),
    );
  });

  test.each(["", "#", "#/"])("%p leads to the list of routes", (fragment) => {
    expect(viewAt(fragment)).toEqual({ name: "routes" });
  });

  const nowhere = wordsOf(`
    #/nowhere #/routes/widgets #/services/widgets/other #/services/widgets/revisions/0
    #/services/widgets/revisions/-1 #/services/widgets/revisions/1e3 #/services/widgets/revisions/1/2
    #/services//revisions #/services/%E0%A4%A/revisions #/services/ #/token=secret
  `);
  test.each(nowhere)("%p leads to no view", (fragment) => {
    expect(viewAt(fragment)).toBeNull();
  });
});
