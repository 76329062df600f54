import { useMemo } from "preact/hooks";
import { CatalogState } from "../parts/catalog-state.tsx";
import { useSession } from "../session.ts";
import { RouteExplorer } from "./route-explorer.tsx";
import { routeRows } from "./rows.ts";

/** All that is published. */
export function RoutesView() {
  const { answer } = useSession().catalog.value;
  const rows = useMemo(() => routeRows(answer ?? {}), [answer]);
  return (
    <CatalogState
      what="the routes"
      lead="Every route that is published, whose it is, and what it asks of its callers."
    >
      <RouteExplorer rows={rows} withService />
    </CatalogState>
  );
}
