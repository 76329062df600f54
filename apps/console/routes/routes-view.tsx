import { useMemo } from "preact/hooks";
import { useSession } from "../page-session.ts";
import { CatalogState } from "../parts/catalog-state.tsx";
import { RouteExplorer } from "./route-explorer.tsx";
import { routeRows } from "./rows.ts";

/** Shows every published route. */
export function RoutesView() {
  const { answer } = useSession().catalog.value;
  const rows = useMemo(() => routeRows(answer ?? {}), [answer]);
  return (
    <CatalogState
      what="the routes"
      lead="Every published route, with its service and the labels that callers need."
    >
      <RouteExplorer rows={rows} withService />
    </CatalogState>
  );
}
