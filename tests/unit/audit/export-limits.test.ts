import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ExportSlot, ExportSlots } from "../../../apps/audit/exports/slots.ts";
import { rejection } from "../../support/index.ts";
import { manualClock } from "../../support/time/manual-clock.ts";

const PACE = { bytesPerSecondMin: 1_000, lagMsMax: 30_000 };

/** Returns export slots with a manual clock. `take` waits for a slot, and `held` has the granted slots. */
function exportSlots() {
  const clock = manualClock();
  const slots = new ExportSlots(clock);
  const held: { slot: ExportSlot; release: () => void }[] = [];
  const take = async (log: string) => {
    const slot = new ExportSlot(log, PACE);
    const release = await slots.take(slot);
    held.push({ slot, release });
    return { slot, release };
  };
  return { clock, take, held };
}

const OF_ALL = "Too many exports are running. Try again in a moment.";

describe("export slots", () => {
  // AU-78
  test("go to waiting logs in their order when they become free", async () => {
    const { take } = exportSlots();
    const first = [await take("a"), await take("a"), await take("b"), await take("c")];
    const order: string[] = [];
    const waiting = ["d", "e"].map((log) => take(log).then(() => order.push(log)));
    expect(await rejection(take("d"))).toMatchObject({ status: 429, message: OF_ALL });
    first[0]?.release();
    await waiting[0];
    expect(order).toEqual(["d"]);
    expect(await rejection(take("a"))).toMatchObject({ status: 429, message: OF_ALL });
    first[1]?.release();
    await waiting[1];
    expect(order).toEqual(["d", "e"]);
  });

  // AU-78
  test("are refused with 429 when none becomes free in time", async () => {
    const { clock, take, held } = exportSlots();
    for (const log of ["a", "b", "c", "d"]) await take(log);
    const waiting = rejection(take("e"));
    clock.advance(4_999);
    expect(await Promise.race([waiting, Promise.resolve("waits")])).toBe("waits");
    clock.advance(1);
    expect(await waiting).toMatchObject({ status: 429, message: OF_ALL });
    held[0]?.release();
    await take("e");
  });

  // AU-78
  test("are taken from the slowest of the slow readers, one for each waiting log", async () => {
    const { take, held } = exportSlots();
    for (const log of ["a", "b", "c", "d"]) await take(log);
    const [fast, slow, slower, young] = held.map(({ slot }) => slot);
    // The first bytes only fill buffers, so they do not make this reader fast.
    slow?.took(1_000_000_000, 0);
    fast?.took(16_000 * 31, 31_000);
    slow?.took(15_999 * 31, 31_000);
    slower?.took(1_000 * 31, 31_000);
    young?.took(1_000 * 30, 30_000);
    const givenUp = () => held.filter(({ slot }) => slot.signal.aborted).map(({ slot }) => slot.log);
    const waiting = ["e", "f", "g"].map((log) => rejection(take(log).then(() => Promise.reject("got it"))));
    expect(givenUp()).toEqual(["b", "c"]);
    expect(await rejection(take("a"))).toMatchObject({ status: 429 });
    expect(givenUp()).toEqual(["b", "c"]);
    for (const { slot, release } of [...held]) if (slot.signal.aborted) release();
    expect(await Promise.all(waiting.slice(0, 2))).toEqual(["got it", "got it"]);
  });

  // AU-78
  test("are awaited by at most 100 logs, and the next log is refused at once", async () => {
    const { take, held } = exportSlots();
    for (const log of ["a", "b", "c", "d"]) await take(log);
    const waiting = Array.from({ length: 100 }, (_, n) => take(`w${n}`));
    expect(await rejection(take("e"))).toMatchObject({ status: 429, message: OF_ALL });
    for (let n = 0; n < 100; n++) {
      held.shift()?.release();
      await waiting[n];
    }
  });

  test("can be released in any order, and a second release has no effect", async () => {
    const step = fc.tuple(fc.constantFrom("a", "b", "c", "d"), fc.nat(5));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { clock, take } = exportSlots();
        const held: { log: string; release: () => void }[] = [];
        for (const [log, which] of steps) {
          const own = held.filter((each) => each.log === log).length;
          const free = own === 0 ? held.length < 4 : own < 2 && held.length < 3;
          const asked = take(log).catch(() => null);
          clock.advance(5_000);
          const taken = await asked;
          expect(taken !== null).toBe(free);
          if (taken !== null) held.push({ log, release: taken.release });
          const [gone] = held.splice(which, 1);
          gone?.release();
          gone?.release();
        }
        for (const { release } of held) release();
        for (const log of ["a", "a", "b", "c"]) await take(log);
      }),
    );
  });
});

test("the pace of a reader counts the bytes of its first millisecond of waiting", () => {
  const slot = new ExportSlot("a", PACE);
  slot.took(1_000_000, 0);
  expect(slot.bytesPerSecond).toBe(Number.POSITIVE_INFINITY);
  slot.took(5, 1);
  expect(slot.bytesPerSecond).toBe(5_000);
});

describe("the allowed lag of a reader", () => {
  test("is used up in twice its length at half the minimum pace", () => {
    const slot = new ExportSlot("a", PACE);
    for (let n = 0; n < 59; n++) slot.took(500, 1_000);
    expect(slot.leftMs).toBe(500);
    slot.took(500, 1_000);
    expect(slot.leftMs).toBe(0);
  });

  test("grows again when the reader catches up", () => {
    const slot = new ExportSlot("a", PACE);
    slot.took(0, 20_000);
    slot.took(15_000, 5_000);
    expect(slot.leftMs).toBe(20_000);
  });
});
