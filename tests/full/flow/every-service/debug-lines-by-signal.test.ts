import { expect, setDefaultTimeout, test } from "bun:test";
import { startProcess, waitFor } from "../../../support/index.ts";

setDefaultTimeout(120_000);

// OP-35
test("SIGUSR2 turns debug lines of the log on and off without stopping the service", async () => {
  const audit = await startProcess("apps/audit/main.ts", { DATABASE_URL: "pglite://memory" });
  const refusals = () => audit.logs().filter(({ message }) => message === "request refused");
  const completed = () => audit.logs().filter(({ message }) => message === "request completed").length;
  const switched = () => audit.logs().filter(({ log_level }) => log_level !== undefined);
  const ask = async () => {
    const before = completed();
    expect((await fetch(`${audit.url}/nowhere`)).status).toBe(404);
    await waitFor(() => completed() > before);
  };
  await ask();
  for (const times of [1, 2]) {
    process.kill(audit.pid, "SIGUSR2");
    await waitFor(() => switched().length === times);
    await ask();
  }
  expect(switched().map(({ log_level }) => log_level)).toEqual(["debug", "info"]);
  expect(refusals()).toMatchObject([{ level: "debug", code: "NOT_FOUND", reason: "Resource not found." }]);
  expect(await audit.stop()).toBe(0);
});
