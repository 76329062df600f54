import type { Change } from "@ostiary/lib/domain/routes";
import Table from "cli-table3";
import { createColors } from "picocolors";
import { printable, type Terminal } from "./terminal.ts";

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

/** Writes results: tables and sentences for people or, with `--json`, the registry's answer as it is. */
export class Output {
  readonly #terminal: Terminal;
  readonly #json: boolean;
  readonly #colours: ReturnType<typeof createColors>;

  constructor(terminal: Terminal, json: boolean) {
    this.#terminal = terminal;
    this.#json = json;
    this.#colours = createColors(terminal.colours);
  }

  /** The answer itself with `--json`, else what `write` says of it. */
  result<Answer>(answer: Answer, write: (answer: Answer) => void): void {
    if (this.#json) this.#terminal.write(`${JSON.stringify(answer, null, 2)}\n`);
    else write(answer);
  }

  line(text: string): void {
    this.#terminal.write(`${printable(text)}\n`);
  }

  /** Columns under their headings; nothing but `empty` when there are no rows. */
  table(headings: string[], rows: string[][], empty: string): void {
    if (rows.length === 0) {
      this.line(empty);
      return;
    }
    const table = new Table({
      head: headings.map((heading) => this.#colours.bold(heading.toUpperCase())),
      chars: NO_BORDERS,
      style: { head: [], border: [], "padding-left": 0, "padding-right": 0, compact: true },
    });
    table.push(...rows.map((row) => row.map(printable)));
    const lines = table.toString().split("\n");
    for (const line of lines) this.#terminal.write(`${line.trimEnd()}\n`);
  }

  /** One line a change, `+` added, `-` removed, `~` changed, with the settings before and after. */
  changes(changes: readonly Change[]): void {
    if (changes.length === 0) this.line("No changes.");
    for (const change of changes) this.#terminal.write(`${this.#change(change)}\n`);
  }

  #change({ action, scope, method, path, before, after }: Change): string {
    const place = method === null ? "" : `${method} ${path} (${scope}) `;
    switch (action) {
      case "added":
        return this.#colours.green(printable(`+ ${place}${settings(after)}`.trimEnd()));
      case "removed":
        return this.#colours.red(printable(`- ${place}${settings(before)}`.trimEnd()));
      case "changed":
        return this.#colours.yellow(
          printable(`~ ${place}${settings(before) || "{}"} -> ${settings(after) || "{}"}`),
        );
    }
  }
}

function settings(side: Change["before"]): string {
  return side === null || Object.keys(side).length === 0 ? "" : JSON.stringify(side);
}
