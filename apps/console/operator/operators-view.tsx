import type { ListedOperators } from "@ostiary/lib/contracts/registry-api";
import { DataTable, Loaded, Time } from "@ostiary/lib/page";
import { useRequest } from "../console-session.ts";
import { counted } from "../parts/shown.tsx";
import { listOperators } from "../registry/calls.ts";

type ListedOperator = ListedOperators["operators"][number];

/** Lists who may call the registry. */
export function OperatorsView() {
  const request = useRequest(listOperators, "");
  return (
    <>
      <p class="lead">
        These people and programs may call the registry. The operators file names them. <b>admin</b> is the
        holder of the admin token. In a name, <code>*</code> stands for any characters; a path includes all
        paths below it; in an address, <code>*</code> stands for one label of the host or for the port.
      </p>
      <Loaded request={request}>
        {({ operators }) => (
          <DataTable
            label="Operators"
            columns={["Operator", "Role", "May write", "Signs in with", "Expires"]}
            rows={operators.map((operator) => ({
              key: operator.name,
              cells: [
                <b>{operator.name}</b>,
                operator.role,
                <Bounds {...operator} />,
                proofOf(operator),
                operator.expires_at === null ? "never" : <Time at={operator.expires_at} />,
              ],
            }))}
          />
        )}
      </Loaded>
    </>
  );
}

function Bounds({ role, services, paths, urls }: ListedOperator) {
  if (role !== "publisher") return role === "admin" ? "everything" : "nothing";
  const bounds: [what: string, patterns: readonly string[] | null][] = [
    ["services", services],
    ["paths", paths],
    ["addresses", urls],
  ];
  return bounds.map(([what, patterns]) => (
    <div key={what}>
      <span class="quiet">{what}</span> {patterns?.length === 0 ? "none" : listOf(patterns ?? ["*"])}
    </div>
  ));
}

const listOf = (texts: readonly string[]) =>
  texts.map((text, index) => (
    <span key={text}>
      {index > 0 && ", "}
      <code>{text}</code>
    </span>
  ));

function proofOf({ tokens, claims }: ListedOperator) {
  return claims.length === 0 ? counted(tokens, "token") : <>claims {listOf(claims)}</>;
}
