import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { service } from "../../../app/registry/bed.ts";
import { startLoadingGateway } from "../../../support/gateway/loading-gateway.ts";
import { browserPath, PAGE_TIMEOUT_MS } from "../../../support/pages/swagger-page.ts";
import { useConsole, WIDGETS } from "./bed.ts";

setDefaultTimeout(PAGE_TIMEOUT_MS);

describe.skipIf(browserPath === undefined)("the console shows", () => {
  const audit = {
    url: "http://audit:1",
    user: { routes: [{ path: "/log", methods: ["GET"] }] },
  };
  const bed = useConsole({ widgets: WIDGETS, audit }, { ROLES_FILE: "seeds/roles.yaml" });

  test("routes with owner, scope, labels, limit and audit, which can be searched by each of them", async () => {
    const { page, complaints, forbiddenUrls } = await bed.open();
    const table = page.getByRole("table", { name: "Routes" });
    await table.waitFor();
    expect(await table.getByRole("row").count()).toBe(1 + 5);
    const row = table.getByRole("row").filter({ hasText: "POST" });
    expect(await row.getByRole("cell").allInnerTexts()).toEqual([
      expect.stringContaining("/org/widgets"),
      "organization",
      "widgets",
      "widgets:write",
      "default",
      "yes",
    ]);
    const search = page.getByLabel("Search routes");
    const finds = async (words: string, status: string) => {
      await search.fill(words);
      await page.getByRole("status").filter({ hasText: status }).waitFor();
    };
    await finds("burst", "1 of 5 routes");
    await finds("", "5 routes");
    await finds("WIDGETS:write post", "1 of 5 routes");
    await finds("nothing has this", "0 of 5 routes");
    await page.getByRole("button", { name: "Show all routes" }).click();
    await page.getByRole("radio", { name: "organization 2" }).check();
    await page.getByRole("status").filter({ hasText: "2 of 5 routes" }).waitFor();
    expect(await table.getByRole("row").count()).toBe(1 + 2);
    expect(complaints).toEqual([]);
    expect(forbiddenUrls).toEqual([]);
  });

  test("a list of services, and each service with its policies and routes", async () => {
    const { page } = await bed.open();
    await page.getByRole("link", { name: "Services" }).click();
    await page.getByRole("heading", { level: 1, name: "Services" }).waitFor();
    await page.getByLabel("Search services by name or URL").fill("widg");
    await page.getByRole("link", { name: "widgets" }).click();
    await page.getByRole("heading", { level: 1, name: "widgets" }).waitFor();
    const policies = page.getByRole("table", { name: "Rate limit policies" });
    await policies.getByRole("row", { name: /burst 600 in 60 s/ }).waitFor();
    expect(await page.getByRole("table", { name: "Routes" }).getByRole("row").count()).toBe(1 + 4);
    expect(await page.title()).toBe("widgets · Ostiary console");
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Services" }).waitFor();
  });

  test("which route serves a request, and whether a role or labels allow it", async () => {
    const { page, go } = await bed.open();
    await go("#/lookup");
    const ask = async (method: string, path: string, caller?: ["role" | "labels", string]) => {
      await page.getByLabel("Method").selectOption(method);
      await page.getByLabel("Path").fill(path);
      await page.getByLabel("Caller").selectOption(caller?.[0] ?? "anyone");
      if (caller?.[0] === "labels") await page.getByRole("textbox", { name: /^Labels/ }).fill(caller[1]);
      if (caller?.[0] === "role") await page.getByLabel("Role", { exact: true }).selectOption(caller[1]);
      await page.getByRole("button", { name: "Look up" }).click();
    };
    const verdict = (name: string) => page.getByRole("heading", { level: 2, name }).waitFor();

    await ask("GET", "/org/widgets/42");
    await verdict("widgets serves this request");
    expect(await page.getByRole("definition").allInnerTexts()).toContain("42");
    await ask("POST", "/org/widgets", ["labels", "widgets:read, widgets:write"]);
    await verdict("Yes, a member with these labels may call the route");
    await page.getByText("The member has a required label: widgets:write.").waitFor();
    await ask("POST", "/org/widgets", ["labels", "widgets:read"]);
    await verdict("No, a member with these labels may not call the route");
    await page.getByText("The member needs one of these labels: widgets:write.").waitFor();
    await ask("POST", "/org/widgets", ["role", "viewer"]);
    await verdict("No, a member with the role viewer may not call the route");
    const offered = page.getByLabel("Role", { exact: true }).getByRole("option");
    expect(await offered.allInnerTexts()).toEqual([
      "Choose a role",
      "admin",
      "auditor",
      "member",
      "owner",
      "viewer",
    ]);
    await ask("GET", "/org/widget");
    await verdict("No route serves this request");
    await page.getByRole("button", { name: /\/org\/widgets\/\{widget_id\}/ }).click();
    expect(await page.getByLabel("Path").inputValue()).toBe("/org/widgets/{widget_id}");
  });

  test("running gateways, the services that they skipped, and that no projection is outstanding", async () => {
    const { page, go } = await bed.open();
    await go("#/gateways");
    await page.getByText("No gateway is running.").waitFor();
    await page.getByText("None: the route store has the newest revision of every service.").waitFor();
    const gateway = await startLoadingGateway(bed.registry.routeStore);
    const card = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: gateway.id }) });
    await card.getByText("Serves all published routes").waitFor();
    await card.getByText("2 services, 5 routes").waitFor();
    await bed.registry.routeStore.put("edge/gateway/routes/broken", "{");
    await card.getByText("Does not serve all published routes").waitFor();
    await card.getByRole("link", { name: "broken" }).waitFor();
    await bed.registry.routeStore.delete("edge/gateway/routes/broken");
    await gateway.stop();
  });

  // RG-173
  test("every write of a service page by page, filtered by service and operator", async () => {
    for (let revision = 1; revision <= 100; revision += 1) {
      await bed.registry.put("busy", service(`/busy/${revision}`));
    }
    const { page, go, complaints } = await bed.open();
    await go("#/changes");
    const rows = page.getByRole("table", { name: "Changes" }).getByRole("row");
    await page.getByRole("link", { name: "busy, revision 100" }).waitFor();
    expect(await rows.count()).toBe(1 + 100);
    const more = page.getByRole("button", { name: "Show more" });
    await more.click();
    await page.getByRole("link", { name: "widgets, revision 1" }).waitFor();
    expect(await more.count()).toBe(0);

    const filters = page.getByRole("form", { name: "Filters" });
    const filter = async (name: "Service" | "Operator", text: string) => {
      await filters.getByLabel(name).fill(text);
      await filters.getByRole("button", { name: "Filter", exact: true }).click();
    };
    await filter("Service", " widgets ");
    await page.getByRole("link", { name: "busy, revision 100" }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "widgets, revision 1" }).waitFor();
    expect(await rows.last().getByRole("cell").allInnerTexts()).toEqual([
      "widgets, revision 1",
      "applied",
      "admin",
      "",
      expect.any(String),
    ]);
    await filter("Operator", "nobody");
    await page.getByText("No change matches.").waitFor();
    await filters.getByRole("button", { name: "Show all changes" }).click();
    await page.getByRole("link", { name: "busy, revision 100" }).click();
    await page.getByRole("heading", { level: 1, name: "Revisions of busy" }).waitFor();
    expect(complaints).toEqual([]);
  });
});
