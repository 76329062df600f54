/** Checks that each guide upgrades in the order of upgrading.md: each service before its callers. */
import { expect, test } from "bun:test";
import { blocksOf, commandsOf } from "../../support/documents/documents.ts";

const ORDER = ["audit", "identity", "gateway", "registry"];
const GUIDES = ".github/guides";

/** Returns the services that the `for` loop in a block of commands restarts, in order. */
function looped(text: string): string[] {
  const [, list = ""] = /^for \w+ in (.+?); do$/m.exec(text) ?? [];
  const parts = list.split(" ").map((word) => ORDER.find((part) => word.includes(part)) ?? word);
  return [...new Set(parts)];
}

test("upgrading.md restarts the services in the right order", async () => {
  const [, commands = ""] = await commandsOf(`${GUIDES}/upgrading.md`, "The order");
  expect(looped(commands)).toEqual(ORDER);
});

test.each([
  ["one-machine-systemd.md", "10. Upgrades"],
  ["production-compose.md", "6. Another version"],
])("%s, %s uses the same order, and links to upgrading.md", async (guide, heading) => {
  const path = `${GUIDES}/${guide}`;
  const blocks = (await blocksOf(path)).filter((block) => block.heading === heading);
  expect(blocks.map(({ text }) => looped(text)).filter((parts) => parts.length > 1)).toEqual([ORDER]);
  const [, section = ""] = (await Bun.file(path).text()).split(`## ${heading}\n`);
  expect(section.split("\n## ")[0]).toContain("(upgrading.md)");
  expect(section.split("\n## ")[0]).toContain("(upgrading.md#go-back)");
});
