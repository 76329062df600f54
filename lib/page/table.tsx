import type { ComponentChildren } from "preact";

/**
 * Returns the `role` attribute of a table element. On narrow screens the styles stack the cells, and browsers
 * then ignore the implicit roles.
 */
const as = (role: "table" | "rowgroup" | "row" | "columnheader" | "cell") => ({ role });

interface DataTableProps {
  label: string;
  columns: readonly string[];
  kinds?: Readonly<Record<string, string>>;
  rows: readonly { key: string | number; cells: readonly ComponentChildren[] }[];
  /** The content that replaces a table without rows. */
  none?: ComponentChildren;
}

/** Shows a table whose rows have a cell for each column. On narrow screens the first cell is the
 * title of its row, and each other cell names its column. */
export function DataTable({ label, columns, kinds = {}, rows, none }: DataTableProps) {
  if (rows.length === 0 && none !== undefined) return <>{none}</>;
  // The index is a stable key: a column's position never changes, but its name differs by language.
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
              <td
                key={index}
                class={kinds[columns[index] ?? ""]}
                data-label={index === 0 ? undefined : columns[index]}
                {...as("cell")}
              >
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
