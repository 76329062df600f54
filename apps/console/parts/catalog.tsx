import type { Services } from "@ostiary/lib/contracts/registry-api";
import { Button, Empty, Loaded, Notice } from "@ostiary/lib/page";
import type { ComponentChildren } from "preact";
import { fragmentOf } from "../console-address.ts";
import { useOperator, useRequest, useSession } from "../console-session.ts";
import { mayWrite } from "../operator/permissions.ts";
import type { Registry } from "../registry/console-registry.ts";

interface CatalogProps {
  lead: string;
  children: (services: Services["services"]) => ComponentChildren;
}

/** Reads all services and shows them. If a later reading fails, the earlier ones stay. */
export function Catalog({ lead, children }: CatalogProps) {
  const session = useSession();
  const read = (registry: Registry) => session.readServices(registry);
  const { run, ...request } = useRequest(read, "services");
  const { loading } = request;
  const reload = async () => {
    if (await run(() => session.run(read))) session.announce("All services were reloaded.");
  };
  return (
    <>
      <div class="lead">
        <p class="quiet">{lead}</p>
        <Button aria-disabled={loading} onClick={() => !loading && reload()}>
          {loading ? "Loading …" : "Reload"}
        </Button>
      </div>
      <Loaded request={{ ...request, reload }} stale={STALE}>
        {({ services, unreadable = {} }) => {
          const names = Object.keys(unreadable);
          if (Object.keys(services).length + names.length === 0) return <NothingPublished />;
          return (
            <>
              {names.length > 0 && <Unreadable names={names} />}
              {children(services)}
            </>
          );
        }}
      </Loaded>
    </>
  );
}

const STALE = "The services could not be reloaded: this page shows an earlier state";

/** Lists the current services that this registry cannot read, with links to their histories. */
function Unreadable({ names }: { names: readonly string[] }) {
  return (
    <Notice tone="warn" title="Some services cannot be shown" role="status">
      <p>
        Another version of Ostiary wrote these services, and this version cannot read them. Restore an earlier
        revision of each, or run the version that wrote them:
      </p>
      <ul class="problems">
        {names.map((name) => (
          <li key={name}>
            <a href={fragmentOf({ name: "revisions", service: name, revision: null })}>{name}</a>
          </li>
        ))}
      </ul>
    </Notice>
  );
}

function NothingPublished() {
  const writes = mayWrite(useOperator());
  return (
    <Empty title="Nothing is published yet.">
      <p>A configuration document names services and the routes that they serve.</p>
      {writes && (
        <a class="button button-main" href={fragmentOf({ name: "apply" })}>
          Apply the first document
        </a>
      )}
      <a href={fragmentOf({ name: "deleted" })}>Look for deleted services</a>
    </Empty>
  );
}
