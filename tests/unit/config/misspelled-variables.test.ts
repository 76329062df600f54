/** Tests of the hints on variables whose names are misspelled. */
import { describe, expect, test } from "bun:test";
import { retentionVariables } from "@ostiary/audit/retention";
import { gatewayProgram } from "@ostiary/gateway/config";
import { hintsOfVariables, namesOf } from "@ostiary/lib/runtime/config";
import { platformProgram } from "../../../apps/platform/config.ts";
import { programs } from "../../readmes/readmes.ts";

const SECRET = "a-value-that-nobody-may-see";
const hints = (program: typeof gatewayProgram, ...names: string[]) =>
  hintsOfVariables(program, Object.fromEntries(names.map((name) => [name, SECRET])));

describe("a variable that no program knows", () => {
  // OP-134, OP-6
  test.each([
    ["AUDIT_ENABELD", "AUDIT_ENABLED"],
    ["INTERNAL_AUTH_TOKN", "INTERNAL_AUTH_TOKEN"],
    ["COUNTER_STORE_CRT_FILE", "COUNTER_STORE_CERT_FILE"],
  ])("%s gets a hint at %s", (name, meant) => {
    const hint = `${name} is not a variable of this service: did you mean ${meant}?`;
    expect(hints(gatewayProgram, name)).toEqual([hint]);
    expect(hints(platformProgram, name)).toEqual([hint]);
  });

  // OP-134
  test.each([
    ["is close to no variable", "POSTGRES_PASSWORD"],
    ["belongs to OpenTelemetry", "OTEL_TRACES_EXPORTERS"],
    ["has no underscore", "HOSTS"],
  ])("gets no hint if its name %s: %s", (_, name) => {
    expect(hints(platformProgram, name)).toEqual([]);
  });
});

const schemas = [...programs.map(({ variables }) => variables), retentionVariables];
const everyName = schemas.flatMap(({ properties }) =>
  Object.entries(properties).flatMap(([name, rule]) => namesOf(name, rule)),
);

// OP-134
test.each(programs.map((program) => [program.app, program] as const))(
  "%s gives no hint on a variable of any program or of the command line",
  (_, program) => {
    expect(hints(program, ...everyName, "REGISTRY_URL", "NO_PROXY", "HTTP_PROXY", "HTTPS_PROXY")).toEqual([]);
  },
);
