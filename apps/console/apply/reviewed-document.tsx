import type { PreviewedService } from "@ostiary/lib/contracts/registry-api";
import { Button, Empty } from "@ostiary/lib/page";
import { mayWrite } from "../operator/permissions.ts";
import { useOperator } from "../page-session.ts";
import { counted } from "../parts/shown.tsx";
import type { Review } from "../registry/calls.ts";
import { Changes, ReviewSummary } from "../review/review.tsx";

/** Shows what a document would change, service by service. */
export function ReviewedDocument({ review, onApply }: { review: Review; onApply: () => void }) {
  const { services } = review;
  const operator = useOperator();
  const changed = services.filter(({ changes }) => changes.length > 0);
  const unchanged = services.length - changed.length;
  if (changed.length === 0) {
    return (
      <Empty title="Nothing would change.">
        <p>Everything in the document is already published.</p>
      </Empty>
    );
  }
  return (
    <section class="reviewed" aria-labelledby="review">
      <div class="lead">
        <div>
          <h2 id="review">What would change</h2>
          <ReviewSummary changes={changed.flatMap(({ changes }) => changes)} />
        </div>
        {mayWrite(operator) ? (
          <Button look="main" onClick={onApply}>
            Apply …
          </Button>
        ) : (
          <p class="quiet">{operator.name} is a reader and cannot apply the document.</p>
        )}
      </div>
      <ServiceReviews services={changed} />
      {unchanged > 0 && (
        <p class="quiet">{counted(unchanged, "service")} of the document would not change.</p>
      )}
    </section>
  );
}

export function ServiceReviews({ services }: { services: readonly PreviewedService[] }) {
  return (
    <>
      {services.map(({ service, status, revision, changes }) => (
        <section key={service} class="review">
          <h3>
            {service} <span class={`tag tag-${status}`}>{status}</span>{" "}
            <span class="quiet small">
              {revision === null ? "not published" : `current revision: ${revision}`}
            </span>
          </h3>
          <Changes changes={changes} label={`Changes of ${service}`} />
        </section>
      ))}
    </>
  );
}
