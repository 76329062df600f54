import { describe, expect, test } from "bun:test";
import { startLocalGateway } from "../support/gateway.ts";
import { rawRequest, spell } from "../support/raw-http.ts";

/** Whose request it is (contract 4, Headers): seen by what the limiter of failures counts together. */

describe("the client's address", () => {
  /** What the failed-auth limiter counts by: an address that is told apart has a budget of its own. */
  async function budgets(hops: string, lists: (string | null)[]): Promise<number[]> {
    const limited = await startLocalGateway({
      TRUSTED_PROXY_HOPS: hops,
      RATE_LIMIT_AUTH_FAILURE_REQUESTS: "1",
    });
    try {
      const statuses: number[] = [];
      for (const list of lists) {
        const headers: Record<string, string> = list === null ? {} : { "X-Forwarded-For": list };
        statuses.push((await rawRequest(limited.url, spell("GET", "/nowhere", headers))).status);
      }
      return statuses;
    } finally {
      await limited.close();
    }
  }

  test("is the socket's while no proxy is trusted, whatever is claimed", async () => {
    expect(await budgets("0", ["1.1.1.1", "2.2.2.2", null])).toEqual([404, 429, 429]);
  });

  test("is the last one of the list behind one proxy", async () => {
    expect(await budgets("1", ["9.9.9.9, 1.1.1.1", "8.8.8.8, 1.1.1.1", "1.1.1.1, 2.2.2.2"])).toEqual([
      404, 429, 404,
    ]);
  });

  test("is the second from the right behind two, the leftmost of a shorter list", async () => {
    expect(await budgets("2", ["9.9.9.9, 1.1.1.1, 7.7.7.7", "1.1.1.1, 6.6.6.6", "1.1.1.1"])).toEqual([
      404, 429, 429,
    ]);
  });

  test("is read in every form that proxies write", async () => {
    expect(
      await budgets("1", ["1.1.1.1", "1.1.1.1:4711", "::ffff:1.1.1.1", "[2001:db8::1]:80", "2001:DB8::1"]),
    ).toEqual([404, 429, 429, 404, 429]);
  });

  test("is the socket's where the list holds no address", async () => {
    expect(await budgets("1", [null, "unknown", "_hidden", "", "1.2.3", 'evil"><script>'])).toEqual([
      404, 429, 429, 429, 429, 429,
    ]);
  });
});
