import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { ADMIN_TOKEN, service } from "../../../app/registry/bed.ts";
import { startLoadingGateway } from "../../../support/gateway/loading-gateway.ts";
import type { ConsolePage } from "../../../support/pages/console-page.ts";
import { browserPath, PAGE_TIMEOUT_MS } from "../../../support/pages/swagger-page.ts";
import { violationsOn } from "../../../support/pages/watched-page.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { useConsole, WIDGETS } from "./bed.ts";

// The first test checks the accessibility of eighteen states of the page, so it needs more time.
setDefaultTimeout(3 * PAGE_TIMEOUT_MS);

const SERVICES = 10;
const ROUTES_OF_EACH = 200;

/** The axe rules that depend on colors, which are all that differs in the dark scheme. */
const COLOR_RULES = ["color-contrast", "link-in-text-block"];

const heading = (page: Page, name: string | RegExp, level = 1) =>
  page.getByRole("heading", { level, name }).waitFor();

describe.skipIf(browserPath === undefined)("with two thousand routes the console", () => {
  const bed = useConsole({ widgets: WIDGETS });
  beforeAll(async () => {
    const many = Array.from({ length: SERVICES }, (_, one) => [
      `service-${one}`,
      service(...Array.from({ length: ROUTES_OF_EACH }, (_, route) => `/s${one}/things/t${route}/{id}`)),
    ]);
    await bed.registry.apply(Object.fromEntries(many));
    await bed.registry.apply({ "service-0": service("/s0/other") });
    // one path in two rows, with three routes
    const routes = [
      { path: "/both", methods: ["GET", "PATCH"] },
      {
        path: "/both",
        methods: ["PUT"],
        audit: true,
        upstream: `/users/{subject.user_id}/${"segment/".repeat(20)}both`,
      },
    ];
    await bed.registry.apply({ both: { url: "http://both:1", user: { routes } } });
    await bed.registry.apply({ former: service("/former") });
    const note = {
      "X-Change-Reason": `Nobody calls it: ${"x".repeat(400)}`,
      "X-Change-Link": `https://git.example.com/${"runs/".repeat(50)}`,
    };
    await bed.registry.call("DELETE", "/services/former", undefined, note);
    await startLoadingGateway(bed.registry.routeStore);
    await bed.registry.routeStore.put("edge/gateway/routes/broken", "{");
  }, PAGE_TIMEOUT_MS);

  async function expectSound({ page }: ConsolePage, where: string): Promise<void> {
    for (const [colorScheme, rules] of [
      ["light", []],
      ["dark", COLOR_RULES],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      const found = await violationsOn(page, ...rules);
      const wider = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      expect({ where, colorScheme, found, wider }).toEqual({ where, colorScheme, found: [], wider: 0 });
    }
  }

  test("is accessible in both color schemes, 360 px wide", async () => {
    const shown = await bed.visit({ viewport: { width: 360, height: 800 } });
    const { page, go, enter } = shown;
    await expectSound(shown, "the token's form");
    await enter(ADMIN_TOKEN);
    await heading(page, "Routes");
    await expectSound(shown, "routes");

    await go("#/services");
    await heading(page, "Services");
    await expectSound(shown, "services");
    await go("#/deleted");
    await page.getByRole("link", { name: "Restore … former" }).waitFor();
    await expectSound(shown, "deleted services");
    await go("#/changes");
    await page.getByRole("link", { name: "former, revision 2" }).waitFor();
    await expectSound(shown, "changes");
    await go("#/services/widgets");
    await page.getByRole("table", { name: "Rate limit policies" }).waitFor();
    await expectSound(shown, "a service");
    await page.getByRole("button", { name: "Delete …" }).click();
    await page.getByRole("dialog").waitFor();
    await expectSound(shown, "a deletion");
    await page.keyboard.press("Escape");
    await go("#/services/service-0/revisions/2");
    await page.getByText("201 changes: 200 break callers.").waitFor();
    await expectSound(shown, "a revision");

    await go("#/lookup");
    await page.getByLabel("Path").fill("/org/widgets");
    await page.getByLabel("Method").selectOption("POST");
    await page.getByLabel("Caller").selectOption("labels");
    await page.getByRole("textbox", { name: /^Labels/ }).fill("nothing");
    await page.getByRole("button", { name: "Look up" }).click();
    await heading(page, /^No, /, 2);
    await expectSound(shown, "a look up");

    await go("#/gateways");
    await page.getByText("Does not serve all published routes").waitFor();
    await expectSound(shown, "gateways");

    await go("#/operators");
    await page.getByRole("table", { name: "Operators" }).waitFor();
    await expectSound(shown, "operators");

    await go("#/apply");
    const area = page.getByRole("textbox", { name: /^Configuration document/ });
    await area.fill("services: { a: 1 }");
    await page.getByRole("button", { name: "Review the changes" }).click();
    await page.getByRole("region", { name: /problems? in the document/ }).waitFor();
    await expectSound(shown, "a wrong document");
    const changed = { ...WIDGETS, url: "http://other:1", member: undefined, user: WIDGETS.member };
    await area.fill(JSON.stringify({ services: { widgets: changed } }));
    await page.getByRole("button", { name: "Review the changes" }).click();
    await heading(page, "What would change", 2);
    await expectSound(shown, "a review");
    await page.getByRole("button", { name: "Apply …" }).click();
    await page.getByRole("dialog").waitFor();
    await expectSound(shown, "a confirmation");
    expect(shown.complaints).toEqual([]);
    expect(shown.forbiddenUrls).toEqual([]);
  });

  test("shows the first routes, more on demand, and finds any route while the operator types", async () => {
    const { page } = await bed.open();
    const total = SERVICES * ROUTES_OF_EACH - ROUTES_OF_EACH + 1 + 4 + 3;
    const counted = `${total.toLocaleString("en")} routes`;
    await page.getByRole("status").filter({ hasText: counted }).waitFor();
    const rows = page.getByRole("table", { name: "Routes" }).getByRole("row");
    expect(await rows.count()).toBe(1 + 100);
    await page.getByRole("button", { name: "Show more" }).click();
    await rows.nth(200).waitFor();
    expect(await rows.count()).toBe(1 + 200);
    await page.getByLabel("Search routes").pressSequentially("s7/things/t199/");
    await page
      .getByRole("status")
      .filter({ hasText: new RegExp(`^1 of ${counted}$`) })
      .waitFor();
    expect(await rows.last().textContent()).toContain("/s7/things/t199/{id}");
  });

  test("fits its routes into tablets and desktops, with a long upstream path", async () => {
    const { page } = await bed.open();
    await page.getByLabel("Search routes").pressSequentially("segment");
    await page.getByRole("status").filter({ hasText: "1 of" }).waitFor();
    for (const width of [800, 1_024, 1_440]) {
      await page.setViewportSize({ width, height: 800 });
      const wider = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      expect({ width, wider }).toEqual({ width, wider: 0 });
    }
  });

  test("is usable by keyboard only, from the token to a deletion", async () => {
    await bed.registry.put("by-keyboard", service("/by-keyboard"));
    const { page } = await bed.visit();
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const focused = () =>
      page.evaluate(`(document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim()`);
    /** Polls a condition from outside the page, because the page's Content-Security-Policy forbids eval. */
    const until = (condition: string) =>
      waitFor(async () => (await page.evaluate(condition)) === true, { what: condition });
    const tabTo = async (name: string) => {
      for (let step = 0; step < 200; step++) {
        await press("Tab");
        if ((await focused()) === name) return;
      }
      throw new Error(`The tab key does not reach "${name}".`);
    };
    // The form gets the focus when it appears.
    await until(`document.activeElement?.id === "token"`);
    await page.keyboard.type(ADMIN_TOKEN);
    await press("Enter");
    await heading(page, "Routes");
    await press("Tab");
    expect(await focused()).toBe("Skip to the content");
    await press("Enter");
    await tabTo("Search routes");
    await page.keyboard.type("by-keyboard");
    await page.getByRole("status").filter({ hasText: "1 of" }).waitFor();
    await tabTo("by-keyboard");
    await press("Enter");
    await heading(page, "by-keyboard");
    // Following a link moves the focus to the heading of the new view.
    await until(`document.activeElement.tagName === "H1"`);
    await tabTo("Delete …");
    await press("Enter");
    await page.getByRole("dialog", { name: "Delete by-keyboard?" }).waitFor();
    await press("Escape");
    // Closing the dialog returns the focus to the button that opened it.
    await until(`document.activeElement.textContent.trim() === "Delete …"`);
    await press("Enter");
    await page.getByRole("dialog").waitFor();
    await tabTo("Type by-keyboard to confirm the deletion");
    await page.keyboard.type("by-keyboard");
    await tabTo("Delete the service");
    await press("Enter");
    await heading(page, "Revisions of by-keyboard");
  });
});
