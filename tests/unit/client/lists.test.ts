/** Tests of lists that the client reads page by page. */
import { describe, expect, test } from "bun:test";
import { createClient } from "@ostiary/client";
import { rejection } from "../../support/rejection.ts";
import { callsWith } from "./network.ts";

const page = (ids: string[], has_more: boolean) => () =>
  Response.json({ members: ids.map((id) => ({ id })), has_more });

async function idsOf(items: AsyncIterable<{ id: string }>): Promise<string[]> {
  return (await Array.fromAsync(items)).map(({ id }) => id);
}

describe("a list", () => {
  // CL-4
  test("is read to its end with the last id as cursor, and keeps its query", async () => {
    const { options, sent } = callsWith([page(["a", "b"], true), page(["c&="], true), page([], false)]);
    const items = createClient(options).items("/org/members", "members", { params: { query: { limit: 2 } } });
    expect(await idsOf(items)).toEqual(["a", "b", "c&="]);
    expect(sent.map(({ url }) => new URL(url).search)).toEqual([
      "?limit=2",
      "?limit=2&starting_after=b",
      "?limit=2&starting_after=c%26%3D",
    ]);
  });

  // CL-4
  test("is read only as far as its reader goes", async () => {
    const { options, sent } = callsWith([page(["a", "b"], true)]);
    for await (const { id } of createClient(options).items("/org/members", "members")) if (id === "b") break;
    expect(sent).toHaveLength(1);
  });

  // CL-4
  test("can be read as pages", async () => {
    const { options } = callsWith([page(["a"], true), page(["b"], false)]);
    const pages = await Array.fromAsync(createClient(options).pages("/org/members", "members"));
    expect(pages).toMatchObject([{ has_more: true }, { has_more: false }]);
  });

  // CL-4
  test.each<[string, (() => Response)[], number]>([
    ["the same page forever", [page(["a"], true), page(["a"], true)], 2],
    ["pages in a circle", [page(["a"], true), page(["b"], true), page(["a"], true)], 3],
    ["an empty page with more", [page([], true)], 1],
    ["items without ids", [() => Response.json({ members: [{}], has_more: true })], 1],
    ["no list", [() => Response.json({ has_more: true })], 1],
    ["no has_more", [() => Response.json({ members: [] })], 1],
    ["null", [() => Response.json(null)], 1],
  ])("ends with an error for a server that responds with %s", async (_, responses, calls) => {
    const { options, sent } = callsWith(responses);
    const error = await rejection(idsOf(createClient(options).items("/org/members", "members")));
    expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE" });
    expect(sent).toHaveLength(calls);
  });

  // CL-4, CL-8
  test("ends when its signal is aborted", async () => {
    const stop = new AbortController();
    const { options, sent } = callsWith([page(["a"], true)]);
    const items = createClient(options).items("/org/members", "members", { signal: stop.signal });
    expect((await items.next()).value).toMatchObject({ id: "a" });
    stop.abort();
    expect(await rejection(items.next())).toMatchObject({ name: "AbortError" });
    expect(sent).toHaveLength(1);
  });
});
