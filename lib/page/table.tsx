import type { ComponentChildren } from "preact";

/**
 * Returns the `role` attribute of a table element. On narrow screens the styles stack the cells, and browsers
 * then ignore the implicit roles.
 */
const as = (role: "table" | "rowgroup" | "row" | "columnheader" | "cell") => ({ role });

interface TableProps {
  caption: string;
  /** The headings of the columns, from left to right. */
  columns: readonly string[];
  /** An additional CSS class. */
  kind?: string;
  /** The rows. */
  children: ComponentChildren;
}

/** Shows a table. The caption is for screen readers only. */
export function Table({ caption, columns, kind, children }: TableProps) {
  return (
    <table class={kind === undefined ? "table" : `table ${kind}`} {...as("table")}>
      <caption class="sr">{caption}</caption>
      <thead {...as("rowgroup")}>
        <tr {...as("row")}>
          {columns.map((column) => (
            <th key={column} {...as("columnheader")} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody {...as("rowgroup")}>{children}</tbody>
    </table>
  );
}

export function Row({ children }: { children: ComponentChildren }) {
  return <tr {...as("row")}>{children}</tr>;
}

interface CellProps {
  /** The column's heading, which the cell shows on narrow screens. Undefined for the first cell of a row. */
  label?: string;
  kind?: string;
  children: ComponentChildren;
}

export function Cell({ label, kind, children }: CellProps) {
  return (
    <td class={kind} data-label={label} {...as("cell")}>
      {children}
    </td>
  );
}
