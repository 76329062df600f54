import { Button, Empty, FailureNotice, Loading, Notice } from "@ostiary/lib/page";
import type { ComponentChildren } from "preact";
import { fragmentOf } from "../address.ts";
import { mayWrite } from "../operator/permissions.ts";
import { useOperator, useSession } from "../page-session.ts";

interface CatalogStateProps {
  lead: string;
  children: ComponentChildren;
}

/** Shows `children` once all services are loaded. If a later refresh fails, `children` stay. */
export function CatalogState({ lead, children }: CatalogStateProps) {
  const session = useSession();
  const { loading, answer, failure } = session.catalog.value;
  const unreadable = Object.keys(answer?.unreadable ?? {});
  const refresh = async () => {
    await session.refresh();
    if (session.catalog.value.failure === null) session.announce("All services were reloaded.");
  };
  return (
    <>
      <div class="lead">
        <p class="quiet">{lead}</p>
        <Button aria-disabled={loading} onClick={() => !loading && refresh()}>
          {loading ? "Loading …" : "Reload"}
        </Button>
      </div>
      {failure !== null && (
        <FailureNotice
          failure={failure}
          title={
            answer === null
              ? undefined
              : "The services could not be reloaded: this page shows an earlier state"
          }
          onRetry={refresh}
        />
      )}
      {answer === null && failure === null && <Loading />}
      {unreadable.length > 0 && <Unreadable names={unreadable} />}
      {answer !== null &&
        (Object.keys(answer.services).length + unreadable.length === 0 ? <NothingPublished /> : children)}
    </>
  );
}

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
