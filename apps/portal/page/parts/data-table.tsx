import { as } from "@ostiary/lib/page";
import type { ComponentChildren } from "preact";

interface DataTableProps {
  /** The accessible name of the table. */
  label: string;
  columns: readonly string[];
  rows: readonly { key: string; cells: readonly ComponentChildren[] }[];
}

/** Shows rows with one cell for each column. On narrow screens each cell names its column. */
export function DataTable({ label, columns, rows }: DataTableProps) {
  return (
    <table class="table" {...as("table")}>
      <caption class="sr">{label}</caption>
      <thead {...as("rowgroup")}>
        <tr {...as("row")}>
          {columns.map((column) => (
            <th key={column} {...as("columnheader")} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody {...as("rowgroup")}>
        {rows.map(({ key, cells }) => (
          <tr key={key} {...as("row")}>
            {cells.map((cell, index) => (
              <td key={columns[index]} data-label={columns[index]} {...as("cell")}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
