import { DataTable } from "@ostiary/lib/page";
import { fragmentOf } from "../address.ts";
import { Found, Methods, ScopeBadge } from "../parts/shown.tsx";
import type { RouteRow } from "./rows.ts";

interface RouteTableProps extends Searched {
  rows: readonly RouteRow[];
  /** Whether to show the service; false when all routes belong to one service. */
  withService: boolean;
}

/** Shows one page of routes. On a narrow screen each row is a card. */
export function RouteTable({ rows, words, withService }: RouteTableProps) {
  const columns = ["Route", "Scope", ...(withService ? ["Owner"] : []), "Labels", "Limit", "Audit"];
  return (
    <DataTable
      label="Routes"
      isTitled
      columns={columns}
      kinds={{ Route: "cell-route", Limit: "cell-limit", Audit: "cell-short" }}
      rows={rows.map((row, index) => ({
        key: index,
        cells: [
          <RoutePath row={row} words={words} />,
          <ScopeBadge scope={row.scope} />,
          ...(withService ? [<Owner service={row.service} words={words} />] : []),
          <Labels labels={row.labels} words={words} />,
          row.limit === "" ? <span class="quiet">default</span> : <Found text={row.limit} words={words} />,
          <AuditOf methods={row.methods} audited={row.audited} />,
        ],
      }))}
    />
  );
}

interface Searched {
  words: readonly string[];
}

function RoutePath({ row: { path, methods, upstream }, words }: Searched & { row: RouteRow }) {
  return (
    <>
      <Methods methods={methods} />{" "}
      <code class="path">
        <Found text={path} words={words} />
      </code>
      {upstream !== null && upstream !== path && (
        <span class="upstream">
          <span aria-hidden="true">↳ </span>
          <span class="sr">calls </span>
          <code>
            <Found text={upstream} words={words} />
          </code>
        </span>
      )}
    </>
  );
}

function Owner({ service, words }: Searched & { service: string }) {
  return (
    <a href={fragmentOf({ name: "service", service })}>
      <Found text={service} words={words} />
    </a>
  );
}

function Labels({ labels, words }: Pick<RouteRow, "labels"> & Searched) {
  if (labels.length === 0) return <span class="quiet">none required</span>;
  return (
    <span class="labels">
      {labels.map((label) => (
        <span key={label} class="label">
          <Found text={label} words={words} />
        </span>
      ))}
    </span>
  );
}

function AuditOf({ methods, audited }: Pick<RouteRow, "methods" | "audited">) {
  if (audited.length === 0) return <span class="quiet">no</span>;
  return <>{audited.length === methods.length ? "yes" : audited.join(", ")}</>;
}
