import { as } from "@ostiary/lib/page";
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
  return (
    <table class="table routes" {...as("table")}>
      <caption class="sr">{caption}</caption>
      <thead {...as("rowgroup")}>
        <tr {...as("row")}>
          <th {...as("columnheader")} scope="col">
            Route
          </th>
          <th {...as("columnheader")} scope="col">
            Scope
          </th>
          {withService && (
            <th {...as("columnheader")} scope="col">
              Owner
            </th>
          )}
          <th {...as("columnheader")} scope="col">
            Labels
          </th>
          <th {...as("columnheader")} scope="col">
            Limit
          </th>
          <th {...as("columnheader")} scope="col">
            Audit
          </th>
        </tr>
      </thead>
      <tbody {...as("rowgroup")}>
        {rows.map((row, index) => (
          <tr key={index} {...as("row")}>
            <RouteCells row={row} words={words} withService={withService} />
          </tr>
        ))}
      </tbody>
    </table>
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
      <td class="cell-route" {...as("cell")}>
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
      </td>
      <td data-label="Scope" {...as("cell")}>
        <ScopeBadge scope={scope} />
      </td>
      {withService && (
        <td data-label="Owner" {...as("cell")}>
          <a href={fragmentOf({ name: "service", service })}>
            <Found text={service} words={words} />
          </a>
        </td>
      )}
      <td data-label="Labels" {...as("cell")}>
        {labels.length === 0 ? (
          <span class="quiet">any caller</span>
        ) : (
          <span class="labels">
            {labels.map((label) => (
              <span key={label} class="label">
                <Found text={label} words={words} />
              </span>
            ))}
          </span>
        )}
      </td>
      <td class="cell-limit" data-label="Limit" {...as("cell")}>
        {limit === "" ? <span class="quiet">default</span> : <Found text={limit} words={words} />}
      </td>
      <td class="cell-short" data-label="Audit" {...as("cell")}>
        <AuditOf methods={methods} audited={audited} />
      </td>
    </>
  );
}

function AuditOf({ methods, audited }: Pick<RouteRow, "methods" | "audited">) {
  if (audited.length === 0) return <span class="quiet">no</span>;
  return <>{audited.length === methods.length ? "yes" : audited.join(", ")}</>;
}
