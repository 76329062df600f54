import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  openRouteStore,
  type RouteChange,
  type RouteListing,
  type RouteStore,
} from "@ostiary/lib/runtime/stores/route-store";
import { freshRouteStoreUrl, services, waitFor } from "../support/index.ts";
import { wordsOf } from "../support/words.ts";
import { recordChanges } from "./recorded-changes.ts";

/** Defines the tests that every adapter of the route store must pass. The store is at `url`. */
function describeRouteStore(adapter: string, url: () => Promise<string>): void {
  // OP-12
  describe(`route store on ${adapter}`, () => {
    let store: RouteStore;

    beforeAll(async () => {
      store = await openRouteStore(await url());
    });
    afterAll(() => store.close());

    test("returns the value of a key until the key is deleted", async () => {
      expect(await store.get("basic/one")).toBeNull();
      await store.put("basic/one", "größer");
      expect(await store.get("basic/one")).toMatchObject({ key: "basic/one", value: "größer" });
      await store.put("basic/one", "");
      expect(await store.get("basic/one")).toMatchObject({ key: "basic/one", value: "" });
      await store.delete("basic/one");
      await store.delete("basic/one");
      expect(await store.get("basic/one")).toBeNull();
    });

    test("lists only the keys with a prefix, in order", async () => {
      for (const key of wordsOf(`
        list/b list/a list/ä list/B lis list list0 listing/a list/a/b
      `)) {
        await store.put(key, `value of ${key}`);
      }
      const { entries } = await store.list("list/");
      expect(entries.map((entry) => entry.key)).toEqual(["list/B", "list/a", "list/a/b", "list/b", "list/ä"]);
      expect(entries.every(({ key, value }) => value === `value of ${key}`)).toBe(true);
      expect((await store.list("nothing/")).entries).toEqual([]);
    });

    test("lists more keys than fit into one message", async () => {
      const value = "x".repeat(200_000);
      const keys = Array.from({ length: 150 }, (_, index) => `large/${String(index).padStart(3, "0")}`);
      for (const key of keys) await store.put(key, value);
      const { entries } = await store.list("large/");
      expect(entries.map((entry) => entry.key)).toEqual(keys);
      expect(entries.every((entry) => entry.value === value)).toBe(true);
      for (const key of keys) await store.delete(key);
    });

    test("lists a consistent snapshot during writes", async () => {
      for (let index = 0; index < 200; index++) await store.put(`moment/${String(index + 100)}`, "");
      let writing = true;
      const write = async () => {
        for (let generation = 1; writing; generation++) {
          await store.put("moment/000", String(generation));
          await store.put("moment/999", String(generation));
        }
      };
      const written = write();
      for (let time = 0; time < 30; time++) {
        const { entries } = await store.list("moment/");
        const first = Number(entries.find((entry) => entry.key === "moment/000")?.value ?? 0);
        const last = Number(entries.find((entry) => entry.key === "moment/999")?.value ?? 0);
        expect(first - last).toBeOneOf([0, 1]);
      }
      writing = false;
      await written;
    });

    describe("fenced writes", () => {
      const write = (name: string, revision: number, value: string | null = String(revision)) =>
        store.writeFenced({
          key: `fenced/${name}`,
          value,
          fence: { key: `fences/${name}`, value: revision },
        });
      const read = async (name: string) => (await store.get(`fenced/${name}`))?.value;

      // RG-78
      test("accept a newer or the same fence, and refuse an older one", async () => {
        expect(await write("order", 5)).toBe(true);
        expect(await write("order", 4)).toBe(false);
        expect(await read("order")).toBe("5");
        expect(await write("order", 5, "repaired")).toBe(true);
        expect(await read("order")).toBe("repaired");
        expect(await write("order", 6)).toBe(true);
        expect(await read("order")).toBe("6");
      });

      // RG-78
      test("compare fences as numbers, not as text", async () => {
        expect(await write("numbers", 9)).toBe(true);
        expect(await write("numbers", 10)).toBe(true);
        expect(await write("numbers", 9)).toBe(false);
        expect(await write("numbers", Number.MAX_SAFE_INTEGER)).toBe(true);
        expect(await write("numbers", 10)).toBe(false);
        expect(await write("zero", 0)).toBe(true);
        expect(await read("zero")).toBe("0");
      });

      test("can delete a key, which an older write then does not restore", async () => {
        expect(await write("deleted", 1)).toBe(true);
        expect(await write("deleted", 3, null)).toBe(true);
        expect(await read("deleted")).toBeUndefined();
        expect(await write("deleted", 2)).toBe(false);
        expect(await read("deleted")).toBeUndefined();
        expect(await write("deleted", 3, null)).toBe(true);
      });

      test("of fifty concurrent writers never go back, and end with the newest", async () => {
        const revisions = Array.from({ length: 50 }, (_, index) => index + 1).sort(() => Math.random() - 0.5);
        const seen: number[] = [];
        let writing = true;
        const watching = (async () => {
          while (writing) seen.push(Number((await read("race")) ?? 0));
        })();
        const outcomes = await Promise.all(revisions.map((revision) => write("race", revision)));
        writing = false;
        await watching;
        expect(await read("race")).toBe("50");
        expect(outcomes[revisions.indexOf(50)]).toBe(true);
        expect(seen).toEqual(seen.toSorted((a, b) => a - b));
      });
    });

    test("summarizes the existing keys with a prefix", async () => {
      expect(await store.summarize("summary/")).toMatchObject({ newest: 0, count: 0 });
      for (const key of ["summary/b", "summary/a", "summary", "summary0"]) await store.put(key, "1");
      const newest = (await store.get("summary/a"))?.revision ?? 0;
      const { revision, ...rest } = await store.summarize("summary/");
      expect(rest).toEqual({ newest, count: 2 });
      expect(revision).toBeGreaterThan(newest);
      await store.delete("summary/a");
      const after = await store.summarize("summary/");
      expect(after).toEqual({
        revision: revision + 1,
        newest: (await store.get("summary/b"))?.revision ?? 0,
        count: 1,
      });
    });

    describe("leased entries", () => {
      const told: unknown[] = [];
      const options = {
        ttlSeconds: 5,
        onFailure: (error: unknown) => told.push(error),
        onRecovery: () => told.push("recovery"),
      };
      const valueAt = async (key: string) => (await store.get(key))?.value;

      test("exist with the latest value until they are released", async () => {
        const watched = await recordChanges(store, "leased/");
        const lease = store.lease("leased/a", options);
        expect(await valueAt("leased/a")).toBeUndefined();
        lease.put("1");
        await waitFor(async () => (await valueAt("leased/a")) === "1");
        for (let count = 2; count <= 50; count++) lease.put(String(count));
        await waitFor(async () => (await valueAt("leased/a")) === "50");
        await lease.release();
        expect(await valueAt("leased/a")).toBeUndefined();
        await waitFor(() => watched.changes.at(-1)?.value === null);
        lease.put("late");
        await lease.release();
        expect(await valueAt("leased/a")).toBeUndefined();
        expect(told).toEqual([]);
        await watched.close();
      });
    });

    describe("revisions", () => {
      test("grow with each write, and are part of listings and changes", async () => {
        const told = await recordChanges(store, "counted/");
        await store.put("counted/a", "1");
        const first = await store.get("counted/a");
        await store.put("counted/a", "2");
        await store.put("counted/b", "1");
        const { revision, entries } = await store.list("counted/");
        expect(entries.map((entry) => entry.key)).toEqual(["counted/a", "counted/b"]);
        const [a, b] = entries.map((entry) => entry.revision);
        expect(first?.revision).toBeLessThan(a ?? 0);
        expect(a).toBeLessThan(b ?? 0);
        expect(b).toBeLessThanOrEqual(revision);
        expect(await store.get("counted/a")).toEqual({ key: "counted/a", value: "2", revision: a ?? 0 });
        await waitFor(() => told.changes.length === 3);
        expect(told.changes.map((change) => change.revision)).toEqual([first?.revision ?? 0, a ?? 0, b ?? 0]);
        await store.delete("counted/a");
        await waitFor(() => told.changes.length === 4);
        expect((await store.list("counted/")).revision).toBeGreaterThanOrEqual(
          told.changes[3]?.revision ?? Number.POSITIVE_INFINITY,
        );
        await told.close();
      });

      test("show which changes of a watch come after a listing", async () => {
        const told = await recordChanges(store, "joined/");
        let writing = true;
        const writes = (async () => {
          for (let time = 0; writing; time++) {
            await store.put(`joined/${time % 5}`, String(time));
            if (time % 3 === 0) await store.delete(`joined/${(time + 2) % 5}`);
          }
        })();
        const listings: RouteListing[] = [];
        for (let time = 0; time < 20; time++) listings.push(await store.list("joined/"));
        writing = false;
        await writes;
        const { entries: expected } = await store.list("joined/");
        for (const listing of listings) {
          await waitFor(() => Bun.deepEquals(joined(listing, told.changes), expected));
        }
        await told.close();
      });
    });

    describe("watching", () => {
      test("reports all kinds of writes to keys with the prefix, with their values", async () => {
        const told = await recordChanges(store, "watched/");
        await store.put("watched/a", "größer");
        await store.put("watched/a", "");
        await store.delete("watched/a");
        await store.delete("watched/a");
        await store.writeFenced({ key: "watched/b", value: "1", fence: { key: "fences/b", value: 1 } });
        await store.writeFenced({ key: "watched/b", value: null, fence: { key: "fences/b", value: 2 } });
        await waitFor(() => told.changes.length === 5);
        expect(told.changes.map(({ key, value }) => [key, value])).toEqual([
          ["watched/a", "größer"],
          ["watched/a", ""],
          ["watched/a", null],
          ["watched/b", "1"],
          ["watched/b", null],
        ]);
        expect(told.interruptions()).toBe(0);
        await told.close();
      });
    });
  });
}

/** Applies the changes that are newer than a listing to the listing. */
function joined({ revision, entries }: RouteListing, changes: readonly RouteChange[]): RouteChange[] {
  const latest = new Map<string, RouteChange>(entries.map((entry) => [entry.key, entry]));
  for (const change of changes) if (change.revision > revision) latest.set(change.key, change);
  return [...latest.values()]
    .filter(({ value }) => value !== null)
    .sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
}

describeRouteStore("memory", async () => "memory://");
if (services().etcd.real) describeRouteStore("etcd", freshRouteStoreUrl);
