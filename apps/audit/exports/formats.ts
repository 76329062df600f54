import { type TSchema, Type } from "@sinclair/typebox";
import { stringify } from "csv-stringify/sync";
import Negotiator from "negotiator";

export type ExportFormat = "csv" | "ndjson";

const NDJSON_TYPE = "application/x-ndjson";

const contentTypes = {
  csv: "text/csv; charset=utf-8; header=present",
  ndjson: NDJSON_TYPE,
} as const satisfies Record<ExportFormat, string>;

const JSON_TYPE = "application/json";
const formats: ReadonlyMap<string, ExportFormat> = new Map([
  ["text/csv", "csv"],
  [NDJSON_TYPE, "ndjson"],
]);
const available = [JSON_TYPE, ...formats.keys()];

/**
 * Returns the export format that an Accept header prefers (AU-41). Null stands for the JSON page, which is
 * also the default if the header accepts no available type.
 */
export function exportFormat(accept: string | null): ExportFormat | null {
  const [preferred] = new Negotiator({ headers: { accept: accept ?? undefined } }).mediaTypes(available);
  return formats.get(preferred ?? JSON_TYPE) ?? null;
}

export function acceptsNdjson(accept: string | null): boolean {
  return new Negotiator({ headers: { accept: accept ?? undefined } }).mediaTypes([NDJSON_TYPE]).length > 0;
}

/** Returns the response schema of a page that an Accept header can turn into an export. */
export function exportablePage<Page extends TSchema>(page: Page) {
  return {
    ...page,
    response_description: "A page.",
    response_headers: {
      Vary: Type.Literal("Accept", { description: "The format of the response depends on this header." }),
    },
  };
}

/** The error for an export beyond the limits, as OpenAPI descriptions show it. */
export const TOO_MANY_EXPORTS = {
  code: "RATE_LIMITED",
  message: "Too many exports are running. Try again in a moment.",
} as const;

export type Cell = string | number | null;

/** The form of an export's items in CSV and NDJSON. */
export interface ExportForm<Item> {
  /** The name of the file, without its extension. */
  name: string;
  columns: readonly string[];
  cells(item: Item): Cell[];
  /** Returns the object that the item's line in NDJSON contains. */
  shown(item: Item): unknown;
}

export function exportHeaders(format: ExportFormat, name: string): Record<string, string> {
  return {
    "Content-Type": contentTypes[format],
    "Content-Disposition": `attachment; filename="${name}.${format}"`,
    Vary: "Accept",
  };
}

/**
 * Yields the chunks of an export's body from batches of items. The first chunk contains the CSV header and
 * the first batch, so nothing is sent before the database has responded.
 */
export async function* exportChunks<Item>(
  format: ExportFormat,
  form: ExportForm<Item>,
  batches: AsyncIterable<Item[]>,
): AsyncGenerator<string, void, void> {
  let head = format === "csv" ? csv([[...form.columns]]) : "";
  for await (const items of batches) {
    yield head +
      (format === "csv"
        ? csv(items.map((item) => form.cells(item)))
        : items.map((item) => `${JSON.stringify(form.shown(item))}\n`).join(""));
    head = "";
  }
  if (head !== "") yield head;
}

/**
 * Formats rows as CSV. A `'` keeps spreadsheets from running a cell as a formula. `escape_formulas` puts it in front
 * of a cell that begins a formula, because it begins with `=`, `+`, `-`, `@`, tab or CR.
 */
function csv(rows: Cell[][]): string {
  return stringify(
    rows.map((cells) => cells.map(withoutInnerFormulas)),
    { escape_formulas: true },
  );
}

/**
 * The places within a cell at which a spreadsheet that splits lines at semicolons or tabs would begin a cell. The
 * quotes around the cell are not at the start of the line, so a line end within them counts too. A match takes all
 * separators in succession, so that the time is linear.
 */
const INNER_CELL = /[;\t\r\n][;\s"]*[=+\-@\uff1d\uff0b\uff0d\uff20]?/g;
const LAST_SEPARATOR = /[;\t\r\n](?=[^;\t\r\n]*$)/;

function withoutInnerFormulas(cell: Cell): Cell {
  return typeof cell === "string" ? cell.replace(INNER_CELL, withoutFormula) : cell;
}

function withoutFormula(begin: string): string {
  return /[;\s"]$/.test(begin) ? begin : begin.replace(LAST_SEPARATOR, "$&'");
}
