/** Tests the characters that the command line keeps from the terminal. A publisher chooses the names of its tests. */
import { expect, test } from "bun:test";
import { Output } from "../../../apps/cli/output.ts";
import { onOneLine, printable, printableJson } from "../../../apps/cli/terminal.ts";

const BIDI = ["\u061c", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069"];
const CONTROLS = [..."\0\u0007\b\r\u001b\u007f\u0085\u009b\u009f"];

test("control characters and changes of the direction are replaced in text", () => {
  for (const each of [...CONTROLS, ...BIDI]) {
    expect(printable(`a${each}b`)).toBe("a\ufffdb");
    expect(onOneLine(`a${each}b`)).toBe("a\ufffdb");
  }
  expect(printable("a\n\tb – Ä 漢 שלום")).toBe("a\n\tb – Ä 漢 שלום");
  expect(onOneLine("a\n\tb")).toBe("a\ufffd\ufffdb");
});

test("a line of the output stays one line", () => {
  const written: string[] = [];
  const terminal = { write: (text: string) => void written.push(text), colors: false };
  new Output(terminal, false).line("skipped: a\nEvery gateway has the change");
  expect(written).toEqual(["skipped: a\ufffdEvery gateway has the change\n"]);
});

test("JSON has them as escapes, so that it stays the same value", () => {
  const value = { [`"\\${CONTROLS.join("")}\n`]: [`${BIDI.join("x")} – Ä 漢 שלום`, 1, null] };
  const text = printableJson(value);
  expect(JSON.parse(text)).toEqual(value);
  expect(printable(text)).toBe(text);
  expect(text).toContain("– Ä 漢 שלום");
});
