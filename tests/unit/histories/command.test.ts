import { expect, test } from "bun:test";
import { RunImpossible } from "../../faults/system/system.ts";
import { parametersOf } from "../../histories/parameters.ts";
import { RELEASES } from "../../upgrade/releases.ts";

test.each([
  [["--beside", "tree"], 'There is no release "tree". --beside takes one of 0.1.0, 0.2.0, last.'],
  [["--beside", ""], "--beside takes one of "],
  [["--beside", "0.0.1"], "--beside takes one of "],
  [["--minutes", "0"], "--minutes takes a number above 0."],
  [["--only", "revision"], 'There is no model "revision".'],
  [["--seed", "x"], "--seed takes a number above 0."],
  [["0.2.0"], "0.2.0"],
])("bun run histories refuses %j", (parameters, message) => {
  expect(() => parametersOf(parameters)).toThrow(RunImpossible);
  expect(() => parametersOf(parameters)).toThrow(message);
});

test("bun run histories records every model for five minutes, unless options say otherwise", () => {
  expect(parametersOf([])).toMatchObject({ minutes: 5, beside: null, json: false });
  const last = RELEASES.at(-1)?.version;
  const given = parametersOf("--minutes 0.5 --seed 7 --only feed --beside last --json".split(" "));
  expect(given).toMatchObject({ minutes: 0.5, seed: 7, beside: last, json: true });
  expect(given.recorders.map(({ name }) => name)).toEqual(["feed"]);
});
