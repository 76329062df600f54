import { Cell, Row, Table } from "@ostiary/lib/page";
import type { ComponentChildren } from "preact";

interface DataTableProps {
  /** The accessible name of the table. */
  label: string;
  columns: readonly string[];
  rows: readonly { key: string; cells: readonly ComponentChildren[] }[];
}

/** Shows a table whose rows have a cell for each column. On narrow screens each cell names its column. */
export function DataTable({ label, columns, rows }: DataTableProps) {
  return (
    <Table caption={label} columns={columns}>
      {rows.map(({ key, cells }) => (
        <Row key={key}>
          {cells.map((cell, index) => (
            // The index is a stable key: a column's position never changes, but its name differs by language.
            <Cell key={index} label={columns[index]}>
              {cell}
            </Cell>
          ))}
        </Row>
      ))}
    </Table>
  );
}
