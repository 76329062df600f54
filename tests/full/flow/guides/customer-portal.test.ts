/** Follows customer-portal.md in a browser: presses, fills, follows or looks for every name in bold. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { commandsOf } from "../../../support/documents/documents.ts";
import { moved, Reader } from "../../../support/documents/guide-reader.ts";
import { browserPath, PAGE_TIMEOUT_MS, sharedBrowser } from "../../../support/pages/swagger-page.ts";
import { ROOT } from "../../../support/root.ts";
import { startQuickStart } from "./quick-start.ts";

setDefaultTimeout(2 * PAGE_TIMEOUT_MS);

const GUIDE = ".github/guides/customer-portal.md";
const STEPS = [
  "3. Sign in as a customer",
  "4. Invite a colleague",
  "5. Give a program a key",
  "6. Try the API",
  "7. Verify the audit log",
];

interface Instruction {
  verb: string;
  value: string;
  name: string;
}

/** Returns the instructions below a heading of the guide, in order. */
function instructionsOf(text: string, heading: string): Instruction[] {
  const section = text.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  const found = [...section.matchAll(/\b(press|follow|see|write `([^`]+)` into)\s+\*\*([^*]+)\*\*/gi)];
  // Fails if a name in bold has no known verb: without this check the name would not be tested.
  expect(found.length).toBe(section.match(/\*\*[^*]+\*\*/g)?.length ?? 0);
  return found.map(([, verb = "", value = "", name = ""]) => ({
    verb: verb.split(" ")[0]?.toLowerCase() ?? "",
    value,
    name,
  }));
}

async function follow(page: Page, { verb, value, name }: Instruction): Promise<void> {
  // An open dialog is at the end of the document, so `last()` finds its button first.
  if (verb === "press") return page.getByRole("button", { name, exact: true }).last().click();
  if (verb === "follow") return page.getByRole("link", { name, exact: true }).click();
  if (verb === "write") return page.getByLabel(name, { exact: true }).last().fill(value);
  return page.getByText(name).first().waitFor({ state: "attached" });
}

describe.skipIf(browserPath === undefined)("customer-portal.md", () => {
  let reader: Reader;
  beforeAll(async () => {
    reader = await Reader.open();
  });

  // PT-5, PT-7, PT-10, PT-42, PT-62, PT-68, PT-70
  test("leads to a branded portal with an invitation, a key, a call and a verified log", async () => {
    const [brand = ""] = await commandsOf(GUIDE, "1. Give the page your look");
    const [start = ""] = await commandsOf(GUIDE, "2. Start it");
    expect(start.trim()).toBe("PORTAL_BRAND_FILE=brand.yaml bun start");
    await reader.run(brand);
    const ostiary = await startQuickStart(reader, { PORTAL_BRAND_FILE: "brand.yaml" });
    const context = await (await sharedBrowser()).newContext({ locale: "en-GB" });
    try {
      const text = await Bun.file(join(ROOT, GUIDE)).text();
      const page = await context.newPage();
      page.setDefaultTimeout(PAGE_TIMEOUT_MS / 2);
      await page.goto(moved(/<(http[^>]+)>/.exec(text)?.[1] ?? "", ostiary.places));
      for (const heading of STEPS) {
        const instructions = instructionsOf(text, heading);
        expect(instructions.length).toBeGreaterThan(1);
        for (const each of instructions) await follow(page, each);
      }
      expect(await page.title()).toEndWith("Acme API");
      await page.getByRole("link", { name: "Support" }).waitFor();
    } finally {
      await context.close();
      await ostiary.stop();
    }
  });
});
