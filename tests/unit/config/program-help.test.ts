/** Tests of what the services and the platform print with `--help`. */
import { describe, expect, test } from "bun:test";
import { integer, optionalText, programHelp, requiredText } from "@ostiary/lib/runtime/config";
import { outputOf } from "@ostiary/lib/runtime/service";
import { Type } from "@sinclair/typebox";

const variables = Type.Object({
  PORT: integer({ default: 80, min: 1, max: 90 }, "Shared by all."),
  TOKEN: requiredText("must be a token", { secret: true, description: "The word ".repeat(12).trim() }),
  NOTE: optionalText("must be a note", { description: "A note." }),
});
const program = { app: "demo", about: "A demo of a program.", variables };

describe("the help of a program", () => {
  // OP-135
  test("lists its variables with names, defaults and meanings, and names the README", () => {
    expect(programHelp(program)).toBe(`A demo of a program.

Variables of the environment, with their defaults:
  TOKEN or TOKEN_FILE (required)
      The word The word The word The word The word The word The word The word The word The word The
      word The word
  NOTE
      A note.
  PORT (80)
      Shared by all.

The README is apps/demo/README.md.
`);
  });
});

describe("a program that is called with", () => {
  // OP-135
  test.each([["--help"], ["-h"]])("%s prints its help and exits with 0", (parameter) => {
    const text = `Usage: bun apps/demo/main.ts [--help]\n\n${programHelp(program)}`;
    expect(outputOf(program, [parameter])).toEqual({ text, exitCode: 0 });
  });

  // OP-135
  test("an unknown argument names it and exits with 2", () => {
    for (const parameters of [["--prot=1"], ["--help", "--prot=1"], ["--prot=1", "x"]]) {
      const output = outputOf(program, parameters);
      expect(output?.exitCode).toBe(2);
      expect(output?.text).toStartWith('Unknown argument "--prot=1": ');
    }
  });
});
