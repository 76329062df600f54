import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  openRouteStore,
  type RouteStore,
  type StoreOperation,
} from "@ostiary/lib/runtime/stores/route-store";
import { waitFor } from "../support/index.ts";

/** What every adapter of the route store promises, on the store that `url` gives. */
export function describeRouteStore(adapter: string, url: () => Promise<string>): void {
  describe(`route store on ${adapter}`, () => {
    const operations: StoreOperation[] = [];
    let store: RouteStore;

    beforeAll(async () => {
      store = await openRouteStore(await url(), {
        namespace: "suite",
        observer: (operation) => operations.push(operation),
      });
    });
    afterAll(() => store.close());

    test("gives what was put, and nothing once it is deleted", async () => {
      expect(await store.get("basic/one")).toBeNull();
      await store.put("basic/one", "größer");
      expect(await store.get("basic/one")).toEqual({ key: "basic/one", value: "größer" });
      await store.put("basic/one", "");
      expect(await store.get("basic/one")).toEqual({ key: "basic/one", value: "" });
      await store.delete("basic/one");
      await store.delete("basic/one");
      expect(await store.get("basic/one")).toBeNull();
    });

    test("lists what is below a prefix, in key order, and nothing else", async () => {
      for (const key of [
        "list/b",
        "list/a",
        "list/ä",
        "list/B",
        "lis",
        "list",
        "list0",
        "listing/a",
        "list/a/b",
      ]) {
        await store.put(key, `value of ${key}`);
      }
      const entries = await store.list("list/");
      expect(entries.map((entry) => entry.key)).toEqual(["list/B", "list/a", "list/a/b", "list/b", "list/ä"]);
      expect(entries.every(({ key, value }) => value === `value of ${key}`)).toBe(true);
      expect(await store.list("nothing/")).toEqual([]);
    });

    test("lists more than fits into one message", async () => {
      const value = "x".repeat(200_000);
      const keys = Array.from({ length: 150 }, (_, index) => `large/${String(index).padStart(3, "0")}`);
      for (const key of keys) await store.put(key, value);
      const entries = await store.list("large/");
      expect(entries.map((entry) => entry.key)).toEqual(keys);
      expect(entries.every((entry) => entry.value === value)).toBe(true);
      for (const key of keys) await store.delete(key);
    });

    test("lists as of one moment while others write", async () => {
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
        const entries = await store.list("moment/");
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

      test("take the first, the next and the same again, and refuse an older", async () => {
        expect(await write("order", 5)).toBe(true);
        expect(await write("order", 4)).toBe(false);
        expect(await read("order")).toBe("5");
        expect(await write("order", 5, "repaired")).toBe(true);
        expect(await read("order")).toBe("repaired");
        expect(await write("order", 6)).toBe(true);
        expect(await read("order")).toBe("6");
      });

      test("compare numbers, not text", async () => {
        expect(await write("numbers", 9)).toBe(true);
        expect(await write("numbers", 10)).toBe(true);
        expect(await write("numbers", 9)).toBe(false);
        expect(await write("numbers", Number.MAX_SAFE_INTEGER)).toBe(true);
        expect(await write("numbers", 10)).toBe(false);
        expect(await write("zero", 0)).toBe(true);
        expect(await read("zero")).toBe("0");
      });

      test("delete too, after which an older write does not bring the key back", async () => {
        expect(await write("deleted", 1)).toBe(true);
        expect(await write("deleted", 3, null)).toBe(true);
        expect(await read("deleted")).toBeUndefined();
        expect(await write("deleted", 2)).toBe(false);
        expect(await read("deleted")).toBeUndefined();
        expect(await write("deleted", 3, null)).toBe(true);
      });

      test("of different fences do not hinder each other", async () => {
        expect(await write("left", 7)).toBe(true);
        expect(await write("right", 1)).toBe(true);
      });

      test("of fifty writers end with the greatest and never go back", async () => {
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

    describe("watching", () => {
      test("tells of a put, a change, a deletion and a fenced write below the prefix", async () => {
        let calls = 0;
        const watch = await store.watch("watched/", () => {
          calls += 1;
        });
        const changes = [
          () => store.put("watched/a", "1"),
          () => store.put("watched/a", "2"),
          () => store.delete("watched/a"),
          () => store.writeFenced({ key: "watched/b", value: "1", fence: { key: "fences/b", value: 1 } }),
        ];
        for (const change of changes) {
          const before = calls;
          await change();
          await waitFor(() => calls > before);
        }
        await watch.close();
      });

      test("tells nothing of what lies elsewhere, and nothing once closed", async () => {
        let calls = 0;
        const watch = await store.watch("quiet/", () => {
          calls += 1;
        });
        let witnessed = 0;
        const witness = await store.watch("", () => {
          witnessed += 1;
        });
        await store.put("quie", "1");
        await store.put("quiet0", "1");
        await waitFor(() => witnessed > 0);
        expect(calls).toBe(0);
        await watch.close();
        witnessed = 0;
        await store.put("quiet/a", "1");
        await waitFor(() => witnessed > 0);
        expect(calls).toBe(0);
        await witness.close();
      });

      test("loses no change, though it joins many", async () => {
        let seen: string | undefined;
        const reads: Promise<void>[] = [];
        const watch = await store.watch("many/", () => {
          reads.push(
            store.get("many/last").then((entry) => {
              seen = entry?.value;
            }),
          );
        });
        for (let index = 0; index <= 300; index++) await store.put("many/last", String(index));
        await waitFor(() => seen === "300");
        expect(reads.length).toBeLessThanOrEqual(301);
        await Promise.all(reads);
        await watch.close();
      });

      test("serves several watchers of one prefix", async () => {
        const calls = [0, 0, 0];
        const watches = await Promise.all(
          calls.map((_, index) =>
            store.watch("several/", () => {
              calls[index] = (calls[index] ?? 0) + 1;
            }),
          ),
        );
        await store.put("several/a", "1");
        await waitFor(() => calls.every((count) => count > 0));
        await Promise.all(watches.map((watch) => watch.close()));
      });
    });

    test("answers a ping", async () => {
      await store.ping(2_000);
    });

    test("tells its observer what was done", async () => {
      operations.length = 0;
      await store.put("observed/a", "1");
      await store.list("observed/");
      expect(operations.map(({ operation, namespace, failed }) => [operation, namespace, failed])).toEqual([
        ["put", "suite", false],
        ["list", "suite", false],
      ]);
    });
  });
}
