/**
 * Tests a Go client that is generated from the descriptions (ER-22). Skipped if oapi-codegen is not
 * installed.
 */
import { expect, test } from "bun:test";
import { GO_IS_MISSING, GO_REASON, runGo } from "./clients/go.ts";
import { EXPECTED, SERVICES, startClientServices } from "./clients/services.ts";

// ER-22
test.skipIf(GO_IS_MISSING)(
  `a generated Go client compiles and works${GO_REASON}`,
  async () => {
    await using services = await startClientServices();
    const answer = await runGo("client.go", SERVICES, { cwd: services.folder, env: services.env });
    expect(answer).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(answer.stdout)).toEqual(EXPECTED);
  },
  300_000,
);
