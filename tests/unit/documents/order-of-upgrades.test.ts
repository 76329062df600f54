import { expect, test } from "bun:test";
import { blocksOf, commandsOf } from "../../support/documents.ts";

/** Every guide upgrades in the order of the guide on upgrades: a callee comes before its callers. */

const ORDER = ["audit", "identity", "gateway", "registry"];
const GUIDES = ".github/guides";

/** Returns the parts that a block of commands restarts in a loop, in their order. */
function looped(text: string): string[] {
  const [, list = ""] = /^for \w+ in (.+?); do$/m.exec(text) ?? [];
  const parts = list.split(" ").map((word) => ORDER.find((part) => word.includes(part)) ?? word);
  return [...new Set(parts)];
}

test("the guide on upgrades gives the order in its commands", async () => {
  const [, commands = ""] = await commandsOf(`${GUIDES}/upgrading.md`, "The order");
  expect(looped(commands)).toEqual(ORDER);
});

test.each([
  ["one-machine-systemd.md", "10. Upgrades"],
  ["production-compose.md", "6. Another version"],
])("%s, %s keeps it, and links to it", async (guide, heading) => {
  const path = `${GUIDES}/${guide}`;
  const blocks = (await blocksOf(path)).filter((block) => block.heading === heading);
  expect(blocks.map(({ text }) => looped(text)).filter((parts) => parts.length > 1)).toEqual([ORDER]);
  const [, section = ""] = (await Bun.file(path).text()).split(`## ${heading}\n`);
  expect(section.split("\n## ")[0]).toContain("(upgrading.md)");
  expect(section.split("\n## ")[0]).toContain("(upgrading.md#go-back)");
});
