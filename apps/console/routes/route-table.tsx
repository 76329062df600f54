import { Cell, Row, Table } from "@ostiary/lib/page";
import { fragmentOf } from "../address.ts";
import { Found, Methods, ScopeBadge } from "../parts/shown.tsx";
import type { RouteRow } from "./rows.ts";

interface RouteTableProps {
  rows: readonly RouteRow[];
  words: readonly string[];
  caption: string;
  /** Whether to show the service; false when all routes belong to one service. */
  withService: boolean;
}

/** Shows one page of routes. On a narrow screen each row is a card. */
export function RouteTable({ rows, words, caption, withService }: RouteTableProps) {
  const columns = ["Route", "Scope", ...(withService ? ["Owner"] : []), "Labels", "Limit", "Audit"];
  return (
    <Table caption={caption} kind="routes" columns={columns}>
      {rows.map((row, index) => (
        <Row key={index}>
          <RouteCells row={row} words={words} withService={withService} />
        </Row>
      ))}
    </Table>
  );
}

function RouteCells({
  row,
  words,
  withService,
}: { row: RouteRow } & Pick<RouteTableProps, "words" | "withService">) {
  const { service, scope, path, methods, upstream, labels, limit, audited } = row;
  return (
    <>
      <Cell kind="cell-route">
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
      </Cell>
      <Cell label="Scope">
        <ScopeBadge scope={scope} />
      </Cell>
      {withService && (
        <Cell label="Owner">
          <a href={fragmentOf({ name: "service", service })}>
            <Found text={service} words={words} />
          </a>
        </Cell>
      )}
      <Cell label="Labels">
        <Labels labels={labels} words={words} />
      </Cell>
      <Cell kind="cell-limit" label="Limit">
        {limit === "" ? <span class="quiet">default</span> : <Found text={limit} words={words} />}
      </Cell>
      <Cell kind="cell-short" label="Audit">
        <AuditOf methods={methods} audited={audited} />
      </Cell>
    </>
  );
}

function Labels({ labels, words }: Pick<RouteRow, "labels"> & Pick<RouteTableProps, "words">) {
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
