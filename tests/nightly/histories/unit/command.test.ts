import { expect, test } from "bun:test";
import { RunImpossible } from "../../faults/system/system.ts";
import { RELEASES } from "../../upgrade/releases.ts";
import { parametersOf } from "../parameters.ts";

test.each([
  [["--beside", "tree"], 'There is no release "tree". --beside takes one of '],
  [["--beside", ""], "--beside takes one of "],
  [["--beside", "0.2.0"], "--beside takes one of "],
  [["--minutes", "0"], "--minutes takes a number above 0."],
  [["--only", "revision"], 'There is no model "revision".'],
  [["--seed", "x"], "--seed takes a number above 0."],
  [["1.0.0"], "1.0.0"],
])("bun run nightly histories refuses %j", (parameters, message) => {
  expect(() => parametersOf(parameters)).toThrow(RunImpossible);
  expect(() => parametersOf(parameters)).toThrow(message);
});

test("bun run nightly histories records every model for five minutes, unless options say otherwise", () => {
  expect(parametersOf([])).toMatchObject({ minutes: 5, beside: null, json: false });
  const given = parametersOf("--minutes 0.5 --seed 7 --only feed --json".split(" "));
  expect(given).toMatchObject({ minutes: 0.5, seed: 7, beside: null, json: true });
  expect(given.recorders.map(({ name }) => name)).toEqual(["feed"]);
});

test.if(RELEASES.length === 0)(
  "bun run nightly histories --beside last says that there is no release yet",
  () => {
    expect(() => parametersOf(["--beside", "last"])).toThrow(RunImpossible);
    expect(() => parametersOf(["--beside", "last"])).toThrow("There is no release of 1.0.0 or later yet");
  },
);
