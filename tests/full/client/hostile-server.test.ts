/** Tests of the client against a server that responds badly, in each runtime that is installed. */
import { afterAll, beforeAll, expect, setDefaultTimeout } from "bun:test";
import { inEachRuntime } from "./runtimes-suite.ts";

const KEY = "a-secret-key";
/** The requests that reached another host than the base URL's. */
const elsewhere: string[] = [];
let evil: Bun.Server<undefined>;
let hostile: Bun.Server<undefined>;

beforeAll(() => {
  const allowed = { "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*" };
  evil = Bun.serve({
    port: 0,
    fetch(request) {
      elsewhere.push(`${request.method} ${request.url}`);
      return new Response("{}", { headers: allowed });
    },
  });
  hostile = Bun.serve({
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      const [, status] = /^\/base\/redirect\/(\d+)$/.exec(pathname) ?? [];
      if (status !== undefined) return Response.redirect(`${evil.url}taken`, Number(status));
      if (pathname === "/base/here") return Response.redirect("/base/again", 302);
      if (pathname === "/base/html")
        return new Response("<h1>Sign in</h1>", { headers: { "Content-Type": "text/html" } });
      if (pathname === "/base/endless")
        return new Response(new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(65_536)) }));
      if (pathname === "/base/year")
        return new Response("{}", { status: 503, headers: { "Retry-After": "31536000" } });
      return new Response("");
    },
  });
});
afterAll(() => Promise.all([evil.stop(true), hostile.stop(true)]));

const source = () => `
import { apiKey, createClient, OstiaryError } from "@ostiary/client";
type Any = Record<string, { get: { responses: { 200: { content: { "application/json": unknown } } } } }>;
const client = createClient<Any>({ baseUrl: "${hostile.url}base/", credential: apiKey("${KEY}"), bodyBytesMax: 1_000_000 });
async function main() {
  const codes: Record<string, unknown> = {};
  for (const path of ["redirect/301", "redirect/302", "redirect/303", "redirect/307", "redirect/308", "here", "html", "endless", "year", "empty"]) {
    try {
      await client.GET("/" + path);
      codes[path] = "success";
    } catch (error) {
      codes[path] = error instanceof OstiaryError ? error.code : String(error);
    }
  }
  const stop = new AbortController();
  const { data } = await client.GET("/endless", { parseAs: "stream", signal: stop.signal });
  setTimeout(() => stop.abort(new Error("stopped")), 50);
  codes.stopped = await new Response(data).text().then(() => "ended", () => stop.signal.aborted);
  return codes;
}
`;

setDefaultTimeout(240_000);

// CL-5, CL-6, CL-8
inEachRuntime("a hostile server gets no credential to another host, and every call ends", async ({ run }) => {
  const codes = await run(source(), hostile.url.href);
  const unexpected = ["301", "302", "303", "307", "308"].map((status) => `redirect/${status}`);
  expect(codes).toEqual({
    ...Object.fromEntries(
      [...unexpected, "here", "html", "endless", "year", "empty"].map((path) => [
        path,
        "UNEXPECTED_RESPONSE",
      ]),
    ),
    stopped: true,
  });
  expect(elsewhere).toEqual([]);
});
