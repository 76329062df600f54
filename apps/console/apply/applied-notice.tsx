import type { Applied } from "@ostiary/lib/contracts/registry-api";
import { fragmentOf } from "../address.ts";
import { Propagated } from "../parts/wait-choice.tsx";

/**
 * The result of a successful apply. `applied` is the registry's response. It is null if the response was lost
 * and a later dry run showed that the document is applied.
 */
export interface Done {
  applied: Applied | null;
}

export function AppliedNotice({ done: { applied } }: { done: Done }) {
  return (
    <section class="notice notice-good" aria-labelledby="applied">
      <h2 id="applied" class="notice-title">
        The document is applied
      </h2>
      {applied === null ? (
        <p>The services in the registry match the document.</p>
      ) : (
        <>
          <ul class="spread">
            {applied.results.map(({ service, revision }) => (
              <li key={service}>
                <a href={fragmentOf({ name: "revisions", service, revision })}>
                  {service}, revision {revision}
                </a>
              </li>
            ))}
          </ul>
          <Propagated propagation={applied.propagation} />
        </>
      )}
    </section>
  );
}
