import { describe, expect, test } from "bun:test";
import {
  ConfigError,
  flag,
  httpUrl,
  integer,
  loadConfig,
  optionalText,
  port,
  requiredText,
  textOr,
} from "@ostiary/lib/runtime/config";
import { Type } from "@sinclair/typebox";
import { thrownBy } from "../../support/thrown.ts";

const variables = Type.Object({
  DATABASE_URL: requiredText("must be a postgres:// URL", { pattern: "^postgres://" }),
  IDENTITY_URL: httpUrl(),
  BRAND: textOr("ostiary", "must be a lower-case word", { pattern: "^[a-z]+$", refuseEmpty: true }),
  PORT: port(5001, "The port for clients."),
  SIZE: integer({ default: 10, min: 1, max: 20 }),
  ENABLED: flag(true),
  FILE: optionalText("must be a path"),
});

const good = { DATABASE_URL: "postgres://localhost/x", IDENTITY_URL: "http://localhost:1" };

const problems = (env: Record<string, string | undefined>) =>
  thrownBy(ConfigError, () => loadConfig(variables, env))?.problems ?? [];

describe("loadConfig", () => {
  test("fills in defaults, converts values and freezes the result", () => {
    const config = loadConfig(variables, { ...good, PORT: "0", ENABLED: "false", SIZE: "20" });
    expect(config).toEqual({ ...good, BRAND: "ostiary", PORT: 0, SIZE: 20, ENABLED: false });
    expect(Object.isFrozen(config)).toBe(true);
  });

  // OP-8
  test("treats an empty variable as unset, unless its rule refuses empty values", () => {
    expect(loadConfig(variables, { ...good, PORT: "", FILE: "" })).toMatchObject({ PORT: 5001 });
    expect(problems({ ...good, BRAND: "" }).map(({ variable }) => variable)).toEqual(["BRAND"]);
  });

  // OP-5
  test("reports all wrong variables at once, each with the rule that it breaks", () => {
    const found = problems({
      IDENTITY_URL: "localhost",
      PORT: "70000",
      SIZE: "1.5",
      ENABLED: "yes",
      BRAND: "ACME",
    });
    expect(found.map(({ variable }) => variable).sort()).toEqual(
      ["BRAND", "DATABASE_URL", "ENABLED", "IDENTITY_URL", "PORT", "SIZE"].sort(),
    );
    expect(found.find(({ variable }) => variable === "PORT")?.message).toBe(
      "must be a whole number from 0 to 65535.",
    );
  });
});
