import { expect, test } from "bun:test";
import { startProcess, waitFor } from "../../support/index.ts";

/** An uncaught error is one line of the log, without the message, which may hold a URL and its query. */

const ENTRY = "tests/support/faulty-process.ts";

// OP-45
test("a rejection is logged by code and place, and the service goes on", async () => {
  const service = await startProcess(ENTRY, {});
  for (const path of ["/reject", "/reject-text"]) {
    expect((await fetch(service.url + path)).status).toBe(200);
  }
  const lines = () => service.logs().filter(({ message }) => message === "unhandled rejection");
  await waitFor(() => lines().length === 2);
  expect(lines()).toMatchObject([
    { level: "error", service: "faulty", error_kind: "internal", error_code: "ECONNRESET" },
    { level: "error", service: "faulty", error_kind: "internal", error_code: "string", at: [] },
  ]);
  expect(String(lines()[0]?.at)).toContain("faulty-process.ts:");
  expect((await fetch(service.url)).status).toBe(200);
  expect(await service.stop()).toBe(0);
  expect(service.stderr).toEqual([]);
  expect(service.stdout.join()).not.toContain("never-told");
});

// OP-45
test("an exception is logged in the same way, and ends the process", async () => {
  const service = await startProcess(ENTRY, {});
  await fetch(`${service.url}/throw`).catch(() => {});
  expect(await service.exited).toBe(1);
  await waitFor(() => service.logs().some(({ message }) => message === "uncaught exception"));
  expect(service.logs().at(-1)).toMatchObject({ level: "error", error_code: "ECONNRESET" });
  expect(service.stderr).toEqual([]);
  expect(service.stdout.join()).not.toContain("never-told");
});

test("before a log exists it is one JSON line on standard error", async () => {
  const service = await startProcess(ENTRY, { FAULT_AT_START: "/reject" });
  expect(await service.stop()).toBe(0);
  expect(service.stderr.length).toBe(1);
  expect(JSON.parse(service.stderr[0] ?? "")).toMatchObject({
    level: "error",
    message: "unhandled rejection",
    error_code: "ECONNRESET",
  });
  expect(service.stderr[0]).not.toContain("never-told");
});
