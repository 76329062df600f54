import { expect, test } from "bun:test";
import { PublisherBounds, publishedBy } from "@ostiary/lib/domain/routes";

// RG-114
test.each<{ urls: string[] | null }>([{ urls: null }, { urls: [] }, { urls: ["*:8080"] }])(
  "an address without a canonical form, such as that of an old revision, is outside the bounds $urls",
  ({ urls }) => {
    const bounds = new PublisherBounds({ services: ["mine"], paths: null, urls });
    const writes = new Map([["mine", { url: "http://[:8080" }]]);
    expect(bounds.outside(writes, publishedBy(writes))).toEqual([{ service: "mine", url: "http://[:8080" }]);
  },
);
