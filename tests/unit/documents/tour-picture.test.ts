/** Checks that the picture of the tour, which is drawn from a run, shows the current tour. */
import { expect, test } from "bun:test";
import { isShown, PICTURE, SHOWN, stepsOfDefaults } from "../../pictures/tour.ts";

test("tour.svg shows the current titles and commands of the tour", async () => {
  const svg = await Bun.file(PICTURE).text();
  const drawn = Array.from(svg.matchAll(/xml:space="preserve">([^<]*)</g), ([, line = ""]) => line).join("");
  const shown = stepsOfDefaults("admin-token").filter(isShown);
  expect(shown).toHaveLength(SHOWN.length);
  for (const { shows, commands } of shown) {
    expect(drawn).toContain(Bun.escapeHTML(shows));
    expect(drawn).toContain(
      commands
        .split("\n")
        .map((line) => Bun.escapeHTML(`$ ${line}`))
        .join(""),
    );
  }
});
