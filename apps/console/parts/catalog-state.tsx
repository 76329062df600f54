import type { ComponentChildren } from "preact";
import { fragmentOf } from "../address.ts";
import { useSession } from "../session.ts";
import { FailureNotice } from "./failure-notice.tsx";
import { Empty, Loading } from "./shown.tsx";

interface CatalogStateProps {
  what: string;
  lead: string;
  children: ComponentChildren;
}

/** What all services are needed for: it is shown once they are there, also while they can not be read again. */
export function CatalogState({ what, lead, children }: CatalogStateProps) {
  const session = useSession();
  const { loading, answer, failure } = session.catalog.value;
  const refresh = async () => {
    await session.refresh();
    if (session.catalog.value.failure === null) session.announce("All services were read again.");
  };
  return (
    <>
      <div class="lead">
        <p class="quiet">{lead}</p>
        <button type="button" class="button" aria-disabled={loading} onClick={() => !loading && refresh()}>
          {loading ? "Reading …" : "Read again"}
        </button>
      </div>
      {failure !== null && (
        <FailureNotice
          failure={failure}
          title={answer === null ? undefined : "It could not be read again: this is what was read before"}
          onRetry={refresh}
        />
      )}
      {answer === null && failure === null && <Loading what={what} />}
      {answer !== null && (Object.keys(answer).length === 0 ? <NothingPublished /> : children)}
    </>
  );
}

function NothingPublished() {
  return (
    <Empty title="Nothing is published yet.">
      <p>A configuration document names services and the routes that they serve.</p>
      <a class="button button-main" href={fragmentOf({ name: "apply" })}>
        Apply the first document
      </a>
    </Empty>
  );
}
