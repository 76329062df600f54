/** Tests of a gateway's charges to quotas (GW-191) and of its requests for known counts (GW-192, GW-193). */
import { describe, expect, test } from "bun:test";
import { QUOTA_LOOKUPS_MAX, type QuotaName } from "@ostiary/lib/contracts/usage-contract";
import { ApiError } from "@ostiary/lib/domain/errors";
import type { QuotaBucket } from "../../../apps/gateway/limits/limit-set.ts";
import { QuotaCharges } from "../../../apps/gateway/usage/quota-charges.ts";
import { QuotaCountLookup } from "../../../apps/gateway/usage/quota-count-lookup.ts";
import { rejection } from "../../support/index.ts";
import { manualClock } from "../../support/time/manual-clock.ts";

function quota(subject: string, requests = 100): QuotaBucket {
  const bucketPrefix = "shared:monthly:";
  const bucket = `${bucketPrefix}2026-11:{${subject}}`;
  return { bucket, bucketPrefix, period: "2026-11", subject, requests };
}

describe("charges", () => {
  // GW-191
  test("are added up by quota, and have a subject without the braces of a hash tag", () => {
    const charges = new QuotaCharges();
    for (const requests of [1, 1, -1]) charges.add(quota("o1"), requests);
    charges.add(quota("o1", 500), 1);
    charges.add(quota("o2"), 1);
    expect(charges.waiting).toBe(2);
    expect(charges.take(1)).toEqual([
      { policy: "shared:monthly", period: "2026-11", subject: "o1", count: 2, requests: 500 },
    ]);
    expect(charges.take(9)).toEqual([
      { policy: "shared:monthly", period: "2026-11", subject: "o2", count: 1, requests: 100 },
    ]);
    expect([charges.waiting, charges.lost]).toEqual([0, 0]);
  });

  // GW-191
  test("over the maximum, or with an id that the audit service does not accept, count as lost", () => {
    const charges = new QuotaCharges(2);
    for (const subject of ["o1", "o2", "o3", "o1", "\0", "", "x".repeat(129), "\ud800", "\ufffe"]) {
      charges.add(quota(subject), 1);
    }
    expect([charges.waiting, charges.lost]).toEqual([2, 6]);
  });
});

/** A look-up of known counts, with a stand-in for the audit service. `respond` returns its responses. */
class Bed {
  readonly calls: (readonly QuotaName[])[] = [];
  readonly lines: string[] = [];
  respond: (quotas: readonly QuotaName[]) => Promise<{ status: number; text: string }> = async (quotas) => ({
    status: 200,
    text: JSON.stringify({ counts: quotas.map(({ subject }) => Number(subject)) }),
  });
  readonly counts: QuotaCountLookup;

  constructor() {
    const line = (_: unknown, text?: string) => void this.lines.push(text ?? "");
    this.counts = new QuotaCountLookup({
      log: { info: line, warn: line, error: line },
      clock: manualClock(),
      client: {
        postQuotas: (quotas) => {
          this.calls.push(quotas);
          return this.respond(quotas);
        },
      },
    });
  }

  of(...subjects: (number | string)[]): Promise<number[]> {
    return Promise.all(subjects.map((subject) => this.counts.of(quota(String(subject)))));
  }

  respondWith(status: number, text = ""): void {
    this.respond = async () => ({ status, text });
  }
}

describe("a request for known counts", () => {
  // GW-192
  test("is one call for all quotas that are needed at the same moment, each quota once", async () => {
    const bed = new Bed();
    const many = Array.from({ length: 500 }, (_, index) => 1 + (index % 3));
    expect(await bed.of(...many)).toEqual(many);
    expect(bed.calls.map((quotas) => quotas.map(({ subject }) => subject))).toEqual([["1", "2", "3"]]);
    expect(await bed.of(7)).toEqual([7]);
    expect(bed.calls[1]).toEqual([{ policy: "shared:monthly", period: "2026-11", subject: "7" }]);
  });

  // GW-192
  test("has at most a hundred quotas", async () => {
    const bed = new Bed();
    const many = Array.from({ length: 2 * QUOTA_LOOKUPS_MAX + 1 }, (_, index) => index);
    expect(await bed.of(...many)).toEqual(many);
    expect(bed.calls.map(({ length }) => length).toSorted()).toEqual(
      [QUOTA_LOOKUPS_MAX, QUOTA_LOOKUPS_MAX, 1].toSorted(),
    );
  });

  // GW-192
  test("is not made for an id that the audit service does not accept: its count starts at zero", async () => {
    const bed = new Bed();
    expect(await bed.of("\0", "")).toEqual([0, 0]);
    expect(bed.calls).toEqual([]);
  });

  // GW-193
  test.each([
    ["breaks off", null, ""],
    ["returns too few counts", 200, '{"counts":[1]}'],
    ["returns a negative count", 200, '{"counts":[1,-1]}'],
  ])("that %s fails all waiting requests with 503", async (_, status, text) => {
    const bed = new Bed();
    if (status === null) bed.respond = () => Promise.reject(new Error("reset"));
    else bed.respondWith(status, text);
    const waiting = [quota("1"), quota("2"), quota("1")].map((each) => rejection(bed.counts.of(each)));
    for (const error of await Promise.all(waiting)) {
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({ status: 503 });
    }
    await rejection(bed.of(3, 4));
    expect(bed.lines).toEqual(["the audit service does not return the counts of quotas"]);
    bed.respond = new Bed().respond;
    expect(await bed.of(1)).toEqual([1]);
    expect(bed.lines).toHaveLength(2);
    expect(bed.counts.results).toMatchObject({ ok: 1, refused: 0 });
  });

  // GW-194
  test("that is refused because of one quota still returns the other counts", async () => {
    const bed = new Bed();
    const { respond } = bed;
    bed.respond = async (quotas) =>
      quotas.some(({ subject }) => subject === "9") ? { status: 422, text: "" } : respond(quotas);
    expect(await bed.of(5, 9, 6)).toEqual([5, 0, 6]);
    expect(bed.lines).toEqual(["the audit service refused to return the count of a quota"]);
  });
});
