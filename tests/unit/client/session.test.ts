/** Tests of sessions that the client mints and renews. */
import { describe, expect, test } from "bun:test";
import { apiKey } from "@ostiary/client";
import { clientWith } from "../../../lib/client/client.ts";
import type { Time } from "../../../lib/client/time.ts";
import { rejection } from "../../support/rejection.ts";
import { refusal } from "./network.ts";

const HOUR_MS = 3_600_000;
/** The clock of the server differs from the clock of the caller by years. */
const SERVER_MS = Date.UTC(2001, 0, 1);

interface Bed {
  /** Responds to a request for a session instead of the server. */
  mint?: () => Response | Promise<Response>;
  /** Responds to a call of the session instead of the server. */
  call?: (token: string | null) => Response | Promise<Response> | null;
}

/** Starts a client with a session in an organization, and the clocks of its machine. */
function session({ mint, call }: Bed = {}) {
  const clock = { monotonicMs: 5_000, wallMs: Date.UTC(2040, 0, 1) };
  const time: Time = {
    monotonicMs: () => clock.monotonicMs,
    wallMs: () => clock.wallMs,
  };
  const minted: string[] = [];
  const tokens: (string | null)[] = [];
  const fetch = async (request: Request) => {
    if (!request.url.endsWith("/session")) {
      const token = request.headers.get("X-API-Key");
      tokens.push(token);
      return call?.(token) ?? Response.json({ id: "o" });
    }
    minted.push(request.url);
    const response = await mint?.();
    if (response !== undefined) return response;
    const nowMs = SERVER_MS + clock.monotonicMs;
    const body = { token: `s${minted.length}`, expires_at: new Date(nowMs + HOUR_MS).toISOString() };
    return Response.json(body, { headers: { Date: new Date(nowMs).toUTCString() } });
  };
  const person = clientWith(
    { baseUrl: "https://api.test", credential: apiKey("person"), fetch, retries: 0 },
    time,
  );
  return { client: person.inOrganization("01ORG"), person, clock, minted, tokens };
}

describe("a session", () => {
  // CL-1
  test("is minted once for many concurrent calls, as the person", async () => {
    const { client, minted, tokens } = session();
    await Promise.all(Array.from({ length: 50 }, () => client.GET("/org")));
    expect(minted).toEqual(["https://api.test/user/organizations/01ORG/session"]);
    expect(new Set(tokens)).toEqual(new Set(["s1"]));
  });

  // CL-1
  test("is renewed in its last five minutes, whatever the clock of the caller says", async () => {
    const { client, clock, tokens } = session();
    await client.GET("/org");
    clock.monotonicMs += 55 * 60_000 - 2_000;
    await client.GET("/org");
    clock.monotonicMs += 4_000;
    await client.GET("/org");
    expect(tokens).toEqual(["s1", "s1", "s2"]);
  });

  // CL-1
  test("is renewed after a sleep, in which one of the clocks stands still", async () => {
    const { client, clock, tokens } = session();
    await client.GET("/org");
    clock.wallMs += HOUR_MS;
    await client.GET("/org");
    clock.wallMs -= 10 * HOUR_MS;
    await client.GET("/org");
    expect(tokens).toEqual(["s1", "s2", "s2"]);
  });

  // CL-1
  test.each<[string, object, Record<string, string>]>([
    ["hides Date", { expires_at: new Date(SERVER_MS).toISOString() }, {}],
    ["has a nonsense time", { expires_at: "soon" }, { Date: "now" }],
    ["has no time", {}, { Date: new Date(SERVER_MS).toUTCString() }],
    [
      "has expired already",
      { expires_at: new Date(SERVER_MS - 1).toISOString() },
      { Date: new Date(SERVER_MS).toUTCString() },
    ],
  ])("lasts an hour if the response %s", async (_, times, headers) => {
    let count = 0;
    const mint = () => Response.json({ token: `s${++count}`, ...times }, { headers });
    const { client, clock, tokens } = session({ mint });
    await client.GET("/org");
    clock.monotonicMs += 54 * 60_000;
    await client.GET("/org");
    clock.monotonicMs += 2 * 60_000;
    await client.GET("/org");
    expect(tokens).toEqual(["s1", "s1", "s2"]);
  });

  // CL-1, CL-2
  test("that the gateway refuses is renewed once for all calls that were refused", async () => {
    const { client, minted } = session({ call: (token) => (token === "s1" ? refusal() : null) });
    await Promise.all(Array.from({ length: 20 }, () => client.GET("/org")));
    expect(minted).toHaveLength(2);
  });

  // CL-1, CL-2
  test("that was renewed serves a call whose refusal arrives late", async () => {
    const late = Promise.withResolvers<Response>();
    const { client, minted, tokens } = session({
      call: (token) => (token !== "s1" ? null : tokens.length === 1 ? late.promise : refusal()),
    });
    const first = client.GET("/org");
    await client.GET("/org");
    late.resolve(refusal());
    await first;
    expect([tokens, minted.length]).toEqual([["s1", "s1", "s2", "s2"], 2]);
  });

  // CL-1
  test("stays in use while a renewal fails, until it ends", async () => {
    let down = false;
    const { client, clock, tokens } = session({
      mint: () => {
        if (down) throw new TypeError("connection reset");
        return Response.json({ token: "s1" });
      },
    });
    await client.GET("/org");
    down = true;
    clock.monotonicMs += 57 * 60_000;
    await client.GET("/org");
    clock.monotonicMs += 4 * 60_000;
    expect(await rejection(client.GET("/org"))).toMatchObject({ code: "NO_RESPONSE" });
    expect(tokens).toEqual(["s1", "s1"]);
  });

  // CL-1
  test.each([
    ["no object", null],
    ["no token", {}],
    ["a number as token", { token: 7 }],
  ])("is not taken from a response with %s", async (_, response) => {
    const { client, tokens } = session({ mint: () => Response.json(response) });
    expect(await rejection(client.GET("/org"))).toMatchObject({ code: "UNEXPECTED_RESPONSE" });
    expect(tokens).toEqual([]);
  });

  // CL-1, CL-8
  test("is minted to the end for other calls when the call that asked for it is aborted", async () => {
    const { promise: response, resolve } = Promise.withResolvers<Response>();
    const { client, minted, tokens } = session({ mint: () => response });
    const stop = new AbortController();
    const stopped = rejection(client.GET("/org", { signal: stop.signal }));
    const other = client.GET("/org");
    stop.abort();
    expect(await stopped).toMatchObject({ name: "AbortError" });
    resolve(Response.json({ token: "s1" }));
    await other;
    expect([minted.length, tokens]).toEqual([1, ["s1"]]);
  });

  // CL-7
  test("is not asked for with an id that would lead to another path", async () => {
    const { person, minted } = session();
    expect(await rejection(person.inOrganization("..").GET("/org"))).toBeInstanceOf(TypeError);
    await person.inOrganization("../../x").GET("/org");
    expect(minted).toEqual(["https://api.test/user/organizations/..%2F..%2Fx/session"]);
  });
});
