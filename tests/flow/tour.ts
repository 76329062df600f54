import { expect } from "bun:test";
import { waitFor } from "../support/wait-for.ts";

/** What each step of the tour printed, by the comment above its commands. */
export type TourOutput = Map<string, string>;

/** Runs the printed tour in a shell, as it is but for the comments, which become marks in the output. */
export async function runTour(text: string, cwd: string): Promise<TourOutput> {
  const script = text.replaceAll(
    /^# (.*)$/gm,
    (_, shows: string) => `echo '=== ${shows.replaceAll("'", "'\\''")}'`,
  );
  const shell = Bun.spawn(["bash", "-s"], { cwd, stdin: new Blob([script]), stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited]);
  expect(stderr).toBe("");
  const parts = stdout.split(/^=== /m).slice(1);
  return new Map(
    parts.map((part) => [part.slice(0, part.indexOf("\n")), part.slice(part.indexOf("\n") + 1)]),
  );
}

/** The output of the one step whose comment holds `words`. */
export function step(output: TourOutput, words: string): string {
  const found = [...output].filter(([shows]) => shows.includes(words));
  expect(found.map(([shows]) => shows)).toHaveLength(1);
  return found[0]?.[1] ?? "";
}

const ULID = "[0-7][0-9A-HJKMNP-TV-Z]{25}";

/** Everything that the tour promises, read from what it printed. */
export function expectTour(output: TourOutput): void {
  expect(step(output, "creates the person")).toMatch(
    new RegExp(`"id":"${ULID}","display_name":null,"status":"active"`),
  );
  expect(step(output, "opens a session")).toMatch(new RegExp(`organization ${ULID}, session ostiary-s-2-`));
  expectEcho(JSON.parse(step(output, "no credential")));
  expect(error(step(output, "refused where the route wants a label"))).toMatchObject({
    code: "FORBIDDEN",
    details: { permission: "required_labels", resource: "route", required_labels: ["things:write"] },
  });
  expectLimited(step(output, "one too many"));
  expect(error(step(output, "A bad key"))).toMatchObject({ code: "UNAUTHORIZED" });
  expect(error(step(output, "nobody published"))).toMatchObject({ code: "NOT_FOUND" });
  expectAuditLog(step(output, "its own audit log"));
  expect(step(output, "Server-sent events").match(/^data: /gm)).toHaveLength(5);
  expect(step(output, "next request is served")).toContain('"path":"/tour/two"');
  expect(error(lastLine(step(output, "the route is gone")))).toMatchObject({ code: "NOT_FOUND" });
}

function expectEcho(echo: { path: string; headers: Record<string, string> }): void {
  expect(echo.path).toMatch(new RegExp(`^/organizations/${ULID}/things/42\\?color=red$`));
  const names = Object.keys(echo.headers);
  expect(names.filter((name) => /authorization|api-key|audit|forwarded/.test(name))).toEqual([]);
  expect(names).toEqual(expect.arrayContaining(["x-request-id", "traceparent"]));
}

function expectLimited(printed: string): void {
  expect(printed.match(/^HTTP\/1\.1 \d+/gm)).toEqual([
    "HTTP/1.1 200",
    "HTTP/1.1 200",
    "HTTP/1.1 200",
    "HTTP/1.1 429",
  ]);
  const remaining = [...printed.matchAll(/^x-ratelimit-remaining: (\d+)/gim)].map(([, value]) => value);
  expect(remaining).toEqual(["2", "1", "0", "0"]);
  expect(printed.match(/^retry-after: \d+/gim)).toHaveLength(1);
}

function expectAuditLog(printed: string): void {
  const { audit_events } = JSON.parse(lastLine(printed));
  expect(audit_events[0]).toMatchObject({
    service: "identity",
    method: "PATCH",
    route: "/org",
    outcome: "responded",
    status: 200,
    details: { name: { from: "Acme", to: "Acme & Daughters" } },
  });
  const refused = audit_events.find((event: { route: string }) => event.route === "/demo/things/{thing_id}");
  expect(refused).toMatchObject({
    method: "PUT",
    outcome: "rejected",
    status: 403,
    params: { thing_id: "42" },
  });
  expect(JSON.stringify(audit_events)).not.toContain("user_id");
}

const lastLine = (text: string) => text.trim().split("\n").at(-1) ?? "";

function error(body: string): { code: string; details: unknown } {
  return JSON.parse(body).error;
}

/** Resolves with the tour that a platform process printed, once it has. */
export async function printedTour(stdout: readonly string[]): Promise<string> {
  const lines = () => stdout.filter((line) => !line.startsWith("{"));
  await waitFor(() => lines().some((line) => line.includes("/restore")), {
    timeout_ms: 30_000,
    what: "The tour",
  });
  const all = lines();
  return all.slice(all.findIndex((line) => line.startsWith("The tour:")) + 1).join("\n");
}
