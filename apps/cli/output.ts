import Table from "cli-table3";
import { createColors } from "picocolors";
import { onOneLine, printableJson, type Terminal } from "./terminal.ts";

const NO_BORDERS = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
};

export type Colors = ReturnType<typeof createColors>;

/** Writes results: tables and sentences for people or, with `--json`, the registry's response unchanged. */
export class Output {
  readonly colors: Colors;
  readonly isJson: boolean;
  readonly #terminal: Pick<Terminal, "write">;

  constructor(terminal: Pick<Terminal, "write" | "colors">, json: boolean) {
    this.#terminal = terminal;
    this.isJson = json;
    this.colors = createColors(terminal.colors);
  }

  /** With `--json`, writes the response body as JSON. Otherwise calls `write`. */
  result<Body>(body: Body, write: (body: Body) => void): void {
    if (this.isJson) this.json(body);
    else write(body);
  }

  json(body: unknown): void {
    this.#terminal.write(`${printableJson(body)}\n`);
  }

  /** Writes text that is already printable and colored. */
  write(text: string): void {
    this.#terminal.write(text);
  }

  /** Writes a sentence about the result, except with `--json`. */
  note(text: string): void {
    if (!this.isJson) this.line(text);
  }

  line(text: string): void {
    this.#terminal.write(`${onOneLine(text)}\n`);
  }

  /** Writes a table with headings, or only `empty` when there are no rows. */
  table(headings: string[], rows: string[][], empty: string): void {
    if (rows.length === 0) {
      this.line(empty);
      return;
    }
    const table = new Table({
      head: headings.map((heading) => this.colors.bold(heading.toUpperCase())),
      chars: NO_BORDERS,
      style: { head: [], border: [], "padding-left": 0, "padding-right": 0, compact: true },
    });
    table.push(...rows.map((row) => row.map(onOneLine)));
    const lines = table.toString().split("\n");
    for (const line of lines) this.#terminal.write(`${line.trimEnd()}\n`);
  }
}
