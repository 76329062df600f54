import { beforeAll, describe, expect, test } from "bun:test";
import { standInFor } from "../../support/during-tests.ts";
import { type Client, service as configOf, useRegistry } from "./bed.ts";
import { entry } from "./operators.ts";

const IDENTITY = "http://identity:3001";
const FIRST = "http://first.team.internal:8080";
const SECOND = "http://second.team.internal:8080";
const OUTSIDE = "http://metadata.internal:80";
const BOUNDS = { services: ["own-*"], paths: ["/own"] };

const admin = useRegistry({
  operators: [
    entry("team", "publisher", { ...BOUNDS, urls: ["http://*.team.internal:8080", "http://localhost:*"] }),
    entry("wide", "publisher", { ...BOUNDS, urls: ["http://*.internal:*", "http://identity:*"] }),
    entry("keeper", "publisher", BOUNDS),
  ],
});
/** May use addresses below team.internal, and the machine's own. */
const team = standInFor(() => admin.as("team"));
/** Has no urls. */
const keeper = standInFor(() => admin.as("keeper"));
beforeAll(async () => {
  await admin.put("identity", configAt(IDENTITY, "/organizations/{id}"));
});

const configAt = (url: string, ...paths: string[]) => ({ ...configOf(...paths), url });

let count = 0;
/** Returns the name of an own service that no other test uses, with a config of it at an address. */
function fresh() {
  count += 1;
  const name = `own-${count}`;
  return { name, at: (url: string) => configAt(url, `/own/${name}`) };
}

/** Expects a 403 for the url of a service, and that the service is as it was. */
async function expectRefused(name: string, url: string, write: () => ReturnType<Client["call"]>) {
  const before = await admin.call("GET", `/services/${name}`);
  const { status, body } = await write();
  expect([status, body.error?.code, body.error?.details.missing]).toEqual([
    403,
    "FORBIDDEN",
    [{ service: name, url }],
  ]);
  expect(body.error.message).toEndWith(
    ` may not publish the url ${url} of service ${name}. Nothing was written.`,
  );
  const after = await admin.call("GET", `/services/${name}`);
  expect([after.status, after.body.revision]).toEqual([before.status, before.body.revision]);
}

/** Writes a service with its address. An apply and a restore have tests of their own below. */
const write = (client: Client, name: string, config: object) => client.put(name, config);

describe("a write of a publisher", () => {
  // RG-152
  test("may set an address that fits its urls, and no other", async () => {
    const { name, at } = fresh();
    expect((await write(team, name, at(FIRST))).status).toBe(200);
    await admin.put(name, at(FIRST));
    expect((await write(team, name, at(SECOND))).status).toBe(200);
    await expectRefused(name, OUTSIDE, () => write(team, name, at(OUTSIDE)));
    await expectRefused(name, "http://team.internal:8080", () =>
      write(team, name, at("http://team.internal:8080")),
    );
  });

  // RG-152
  test("is refused while the service has an address that does not fit, also if it stays", async () => {
    const { name, at } = fresh();
    await admin.put(name, at(OUTSIDE));
    await expectRefused(name, OUTSIDE, () => write(team, name, at(OUTSIDE)));
    expect((await write(team, name, at(FIRST))).status).toBe(200);
  });

  // RG-153
  test("keeps the address without urls, in any spelling", async () => {
    const { name, at } = fresh();
    await expectRefused(name, FIRST, () => write(keeper, name, at(FIRST)));
    await admin.put(name, at(FIRST));
    expect((await write(keeper, name, at(FIRST))).status).toBe(200);
    expect((await write(keeper, name, at("http://First.Team.Internal.:8080"))).status).toBe(200);
    await expectRefused(name, SECOND, () => write(keeper, name, at(SECOND)));
    await admin.call("DELETE", `/services/${name}`);
    await expectRefused(name, FIRST, () => write(keeper, name, at(FIRST)));
  });

  // RG-154
  test("never uses the address of a service of others, whatever its urls", async () => {
    const { name, at } = fresh();
    const wide = admin.as("wide");
    expect((await write(wide, name, at("http://identity:3002"))).status).toBe(200);
    for (const url of [IDENTITY, "http://IDENTITY:3001", "http://identity.:3001"]) {
      await expectRefused(name, url, () => write(wide, name, at(url)));
    }
    await admin.put(name, at(IDENTITY));
    await expectRefused(name, IDENTITY, () => write(keeper, name, at(IDENTITY)));
  });

  // RG-154, RG-155
  test("never reaches a service of others on the local machine by another spelling", async () => {
    const { name, at } = fresh();
    const port = 20_000 + count;
    await admin.put(`local-${count}`, configAt(`http://127.0.0.1:${port}`, `/local/${count}`));
    const spellings = ["LocalHost.", "a.localhost", "127.0.0.2", "[::]"];
    for (const host of [...spellings, "[::ffff:127.0.0.1]"]) {
      const url = `http://${host}:${port}`;
      await expectRefused(name, url, () => write(team, name, at(url)));
    }
    expect((await write(team, name, at(`http://127.0.0.1:${port + 1000}`))).status).toBe(200);
  });
});

describe("a publisher", () => {
  // RG-154
  test("may use the address of another service of its own, and of a deleted service", async () => {
    const { name, at } = fresh();
    const url = `http://${name}.team.internal:8080`;
    await admin.put(`other-${name}`, configAt(url, `/other/${name}`));
    await expectRefused(name, url, () => team.put(name, at(url)));
    await admin.call("DELETE", `/services/other-${name}`);
    expect((await team.put(name, at(url))).status).toBe(200);
    const second = fresh();
    expect((await team.put(second.name, second.at(url))).status).toBe(200);
  });

  // RG-152, RG-153, RG-154
  test("restores a revision only if it may set the address of that revision", async () => {
    const { name, at } = fresh();
    for (const url of [OUTSIDE, FIRST, SECOND, SECOND]) await admin.put(name, at(url));
    const restore = (client: Client, revision: number) =>
      client.call("POST", `/services/${name}/revisions/${revision}/restore`);
    await expectRefused(name, OUTSIDE, () => restore(team, 1));
    await expectRefused(name, FIRST, () => restore(keeper, 2));
    await expectRefused(name, SECOND, () => restore(keeper, 3));
    expect((await restore(team, 2)).status).toBe(200);
    expect((await keeper.call("DELETE", `/services/${name}`)).status).toBe(204);
    await expectRefused(name, FIRST, () => restore(keeper, 2));
    await admin.put(`taker-${name}`, configAt(FIRST, `/taker/${name}`));
    await expectRefused(name, FIRST, () => restore(team, 2));
    await admin.call("DELETE", `/services/taker-${name}`);
    expect((await restore(team, 2)).status).toBe(200);
  });

  // RG-117
  test("gets every service of a document with a wrong address, and nothing is written", async () => {
    const [one, two] = [fresh(), fresh()];
    const { status, body } = await team.apply({ [one.name]: one.at(FIRST), [two.name]: two.at(IDENTITY) });
    expect([status, body.error.details]).toEqual([
      403,
      { operator: "team", missing: [{ service: two.name, url: IDENTITY }] },
    ]);
    const dryRun = await team.call("POST", "/apply?dry_run=true", {
      services: { [two.name]: two.at(IDENTITY) },
    });
    expect(dryRun.status).toBe(403);
    expect((await admin.call("GET", `/services/${one.name}`)).status).toBe(404);
  });

  // RG-154
  test("never shares an address with a service that is created at the same moment", async () => {
    const names = Array.from({ length: 6 }, fresh);
    const responses = await Promise.all(
      names.flatMap(({ name, at }, index) => {
        const url = `http://${name}.team.internal:8080`;
        const other = () => admin.put(`first-${name}`, configAt(url, `/first/${name}`));
        const own = () => team.put(name, at(url));
        return (index % 2 === 0 ? [own, other] : [other, own]).map((write) => write());
      }),
    );
    expect(
      responses.map(({ status }) => status).filter((status) => status !== 200 && status !== 403),
    ).toEqual([]);
    const { changes } = (await admin.call("GET", "/changes?limit=100")).body;
    const order: string[] = changes.map(({ service }: { service: string }) => service).toReversed();
    for (const { name } of names) {
      if (!order.includes(name)) continue;
      expect(order.indexOf(name)).toBeLessThan(order.indexOf(`first-${name}`));
    }
  });
});
