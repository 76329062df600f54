import type { Browser, Page } from "playwright-core";
import { type PortalQuickStart, startPortalQuickStart } from "../../support/pages/portal-quick-start.ts";
import { browserPath, launchBrowser } from "../../support/pages/swagger-page.ts";
import type { Bench } from "./bench.ts";
import { BenchImpossible } from "./measure/cores.ts";
import { type Goal, goalTable, judge } from "./measure/goal-table.ts";
import { describeMachine, machineLine } from "./measure/machine.ts";
import { ServiceBed } from "./measure/service-bed.ts";
import { spreadOf } from "./measure/statistics.ts";
import { table, whole } from "./measure/table.ts";
import { timeOf } from "./measure/time-of.ts";

const KIB = 1_024;
const TIMEOUT_MS = 600_000;
/** The number of concurrent requests that fill the log. */
const WRITERS = 16;
/** A rate limit that the bench does not reach. */
const NO_LIMIT = "100000000";

const SIZE: Goal = { title: "first page, compressed, KiB", bound: 150, at_most: true };
const USABLE: Goal = { title: "first page until it can be used, ms", bound: 1_000, at_most: true };
const MEMBERS: Goal = { title: "10 000 members: the list, ms", bound: 1_000, at_most: true };
const SEARCH: Goal = { title: "10 000 members: find one by name, ms", bound: 5_000, at_most: true };
const EVENTS: Goal = { title: "100 000 events: the list, ms", bound: 1_000, at_most: true };
const FILTERED: Goal = {
  title: "100 000 events: find one by its request id, ms",
  bound: 1_000,
  at_most: true,
};
const VERIFIED: Goal = { title: "100 000 events: verified a second", bound: 2_000 };

/** Measures the portal in a browser: how fast its first page loads, and how fast long lists are. */
export const portal: Bench = {
  summary: "the portal in a browser: its first page, 10 000 members and 100 000 events (--quick: 2 000 each)",
  async run({ quick, progress }) {
    if (browserPath === undefined) throw new BenchImpossible("This bench needs Chromium: install it.");
    const machine = describeMachine();
    await using browser = await launchBrowser();
    const rounds = quick ? 3 : 10;
    progress("opening the first page of the quick start");
    const first = await firstPages(browser, rounds);
    await using bed = new ServiceBed([]);
    const { url } = await bed.database();
    await using platform = await startPortalQuickStart({ DATABASE_URL: url, RATE_LIMIT_REQUESTS: NO_LIMIT });
    const many = { members: quick ? 2_000 : 10_000, events: quick ? 2_000 : 100_000 };
    const { id, send } = await platform.organization("Many");
    progress(`adding ${whole(many.members)} members`);
    await addMembers(url, id, many.members);
    progress(`writing ${whole(many.events)} events`);
    const change = async () => {
      await (await send("PATCH", "/org", { name: "Many" })).body?.cancel();
    };
    const request_id = (await send("PATCH", "/org", { name: "Many" })).headers.get("X-Request-Id") ?? "";
    await times(many.events - 1, change);
    progress("opening the lists of members and events");
    const lists = await longLists(browser, platform, { id, request_id, rounds, ...many });
    const goals = [
      judge(SIZE, spreadOf(first.kib)),
      judge(USABLE, spreadOf(first.usable_ms)),
      judge(MEMBERS, spreadOf(lists.members_ms)),
      judge(SEARCH, spreadOf(lists.search_ms)),
      judge(EVENTS, spreadOf(lists.events_ms)),
      judge(FILTERED, spreadOf(lists.filtered_ms)),
      judge(VERIFIED, spreadOf(lists.verified_per_second)),
    ];
    const rows = [
      ["members", whole(many.members)],
      ["events", whole(many.events)],
    ];
    const text = [machineLine(machine), "", table(["", "measured"], rows), "", goalTable(goals)].join("\n");
    return { text, goals, data: { machine, many, first, lists, goals } };
  },
};

/** Loads the portal's first page with an empty browser cache. Returns sizes and times. */
async function firstPages(browser: Browser, rounds: number) {
  await using quickStart = await startPortalQuickStart();
  const figures: { kib: number[]; usable_ms: number[] } = { kib: [], usable_ms: [] };
  for (let round = -1; round < rounds; round += 1) {
    const page = await browser.newPage({ locale: "en-GB" });
    const sizes: Promise<{ responseBodySize: number; responseHeadersSize: number }>[] = [];
    page.on("requestfinished", (request) => void sizes.push(request.sizes()));
    const usable_ms = await elapsed(async () => {
      await page.goto(quickStart.portalUrl);
      await page.getByRole("button", { name: "Sign in" }).waitFor();
    });
    await page.waitForLoadState("networkidle");
    const all = await Promise.all(sizes);
    const bytes = all.reduce((sum, each) => sum + each.responseBodySize + each.responseHeadersSize, 0);
    await page.context().close();
    // Discard the first round: the browser starts its processes, and the server bundles the page.
    if (round < 0) continue;
    figures.kib.push(bytes / KIB);
    figures.usable_ms.push(usable_ms);
  }
  return figures;
}

interface Long {
  id: string;
  request_id: string;
  rounds: number;
  members: number;
  events: number;
}

async function longLists(browser: Browser, platform: PortalQuickStart, long: Long) {
  const page = await platform.open(browser);
  page.setDefaultTimeout(TIMEOUT_MS);
  const go = async (path: string) => {
    await page.evaluate(`location.hash = ${JSON.stringify(`#/org/${long.id}/${path}`)}`);
  };
  const rows = (label: string) => page.getByRole("table", { name: label }).getByRole("row");
  const figures: Record<
    "members_ms" | "search_ms" | "events_ms" | "filtered_ms" | "verified_per_second",
    number[]
  > = { members_ms: [], search_ms: [], events_ms: [], filtered_ms: [], verified_per_second: [] };
  for (let round = 0; round < long.rounds; round += 1) {
    await go("overview");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    figures.members_ms.push(
      await elapsed(
        () => go("members"),
        () => rows("Members").nth(100).waitFor(),
      ),
    );
    const last = `Person ${long.members}`;
    figures.search_ms.push(
      await elapsed(
        () => page.getByLabel("Search by name, role or id").fill(last),
        () => page.getByText(/^1 of [\d,]+ match/).waitFor(),
        () => rows("Members").nth(1).getByText(last).waitFor(),
      ),
    );
    figures.events_ms.push(
      await elapsed(
        () => go("audit"),
        () => rows("Events").nth(20).waitFor(),
      ),
    );
    figures.filtered_ms.push(
      await elapsed(
        () => go(`audit?request_id=${long.request_id}`),
        () => rows("Events").nth(2).waitFor({ state: "detached" }),
        () => rows("Events").nth(1).waitFor(),
      ),
    );
  }
  for (let round = 0; round < Math.min(3, long.rounds); round += 1) {
    figures.verified_per_second.push((long.events / (await verify(page, go))) * 1_000);
  }
  return figures;
}

/** Verifies the whole log on the portal's page, and returns the time in milliseconds. */
async function verify(page: Page, go: (path: string) => Promise<void>): Promise<number> {
  await go("overview");
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await go("audit/verify");
  const start = page.getByRole("button", { name: "Verify now" });
  await start.waitFor();
  return elapsed(
    () => start.click(),
    () => page.getByText(/complete and unaltered/).waitFor(),
  );
}

async function elapsed(...steps: (() => Promise<unknown>)[]): Promise<number> {
  return timeOf(async () => {
    for (const step of steps) await step();
  });
}

/** Adds members to an organization, by inserts into the identity service's database. */
async function addMembers(url: string, organization_id: string, count: number): Promise<void> {
  const sql = new Bun.SQL(url);
  const ids = (kind: string) => `'01KA4YB0Q9${kind}' || lpad(number::text, 15, '0')`;
  const series = `generate_series(1, ${count}) number`;
  await sql.unsafe(
    `insert into identity.users select ${ids("A")}, 'Person ' || number, 'active', now(), now() from ${series}`,
  );
  await sql.unsafe(
    `insert into identity.members (id, organization_id, principal, user_id, role, status, created_at, updated_at)
     select ${ids("B")}, '${organization_id}', 'user', ${ids("A")}, 'member', 'active', now(), now() from ${series}`,
  );
  await sql.unsafe("analyze");
  await sql.close();
}

/** Runs `work` this many times, with {@link WRITERS} runs at the same time. */
async function times(count: number, work: () => Promise<void>): Promise<void> {
  let left = count;
  const writer = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
}
