/**
 * Tests that an uncaught error has one log line, without the error's message: the message can contain a URL.
 */
import { expect, test } from "bun:test";
import { startProcess, waitFor } from "../../../support/index.ts";

const ENTRY = "tests/support/processes/faulty-process.ts";

// OP-45
test("an unhandled rejection is logged with its code and location, and the service continues", async () => {
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
  expect(service.stdout.join()).not.toContain("never-logged");
});

// OP-45
test("an uncaught exception is logged without its message and ends the process", async () => {
  const service = await startProcess(ENTRY, {});
  await fetch(`${service.url}/throw`).catch(() => {});
  expect(await service.exited).toBe(1);
  await waitFor(() => service.logs().some(({ message }) => message === "uncaught exception"));
  expect(service.logs().at(-1)).toMatchObject({ level: "error", error_code: "ECONNRESET" });
  expect(service.stderr).toEqual([]);
  expect(service.stdout.join()).not.toContain("never-logged");
});

test("an unhandled rejection before the log exists is one JSON line on standard error", async () => {
  const service = await startProcess(ENTRY, { FAILURE_AT_START: "/reject" });
  expect(await service.stop()).toBe(0);
  expect(service.stderr.length).toBe(1);
  expect(JSON.parse(service.stderr[0] ?? "")).toMatchObject({
    level: "error",
    message: "unhandled rejection",
    error_code: "ECONNRESET",
  });
  expect(service.stderr[0]).not.toContain("never-logged");
});
