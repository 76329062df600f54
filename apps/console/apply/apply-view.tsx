import type { GivenNote } from "@ostiary/lib/contracts/registry-api";
import { Button, type Failure, FailureNotice } from "@ostiary/lib/page";
import type { RefObject } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import { fragmentOf } from "../address.ts";
import { mayWrite } from "../operator/permissions.ts";
import { useOperator, useSession } from "../page-session.ts";
import { counted, Said } from "../parts/shown.tsx";
import { Propagated } from "../parts/write-dialog.tsx";
import { type Review, reviewDocument } from "../registry/calls.ts";
import { ApplyDialog, type Done, ReviewedDocument } from "./apply-dialog.tsx";
import { placeViolations } from "./violation-places.ts";

/** The result of the last review or apply. */
type Outcome =
  | { is: "reviewed"; document: string; review: Review }
  | { is: "refused"; document: string; failure: Failure }
  | { is: "done"; done: Done };

const EXAMPLE = `services:
  widgets:
    url: http://widgets:8080
    organization:
      route_prefix: /org
      routes:
        - path: /widgets
          methods: { GET: {}, POST: { required_labels: [widgets:write] } }
`;

/** Shows what a pasted document would change. On request, applies exactly the changes that it shows. */
export function ApplyView() {
  const document = useSession().document.value;
  const { outcome, setOutcome, busy, ask } = useReview(document);
  const [applying, setApplying] = useState(false);
  const [note, setNote] = useState<GivenNote>({});
  const area = useRef<HTMLTextAreaElement>(null);

  const review = async () => {
    if (busy || document.trim() === "") return area.current?.focus();
    setApplying(false);
    await ask();
  };
  const show = ({ start, end }: { start: number; end: number }) => {
    area.current?.focus();
    area.current?.setSelectionRange(start, end);
  };

  return (
    <>
      <Lead />
      <DocumentForm area={area} document={document} busy={busy} onReview={() => void review()} />
      <div aria-live="polite">
        <Shown
          outcome={outcome}
          document={document}
          onApply={() => setApplying(true)}
          onReview={review}
          onShow={show}
        />
      </div>
      {applying && outcome?.is === "reviewed" && (
        <ApplyDialog
          document={outcome.document}
          review={outcome.review}
          note={note}
          onNote={setNote}
          onClose={() => setApplying(false)}
          onReview={review}
          onDone={(done) => {
            setApplying(false);
            setNote({});
            setOutcome({ is: "done", done });
          }}
        />
      )}
    </>
  );
}

/** Keeps the outcome of the last review or apply. `ask` makes the registry review the document. */
function useReview(document: string) {
  const session = useSession();
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [busy, setBusy] = useState(false);
  const ask = async () => {
    setBusy(true);
    const review = await session.ask((registry) => reviewDocument(registry, document));
    if (review.ok) setOutcome({ is: "reviewed", document, review: review.value });
    else setOutcome({ is: "refused", document, failure: review.failure });
    setBusy(false);
  };
  return { outcome, setOutcome, busy, ask };
}

function Lead() {
  const writes = mayWrite(useOperator());
  return (
    <p class="quiet lead">
      The registry creates or replaces all services in the document, or none of them. It does not change other
      services.{" "}
      {writes ? "You see the changes before they are written." : "You see what the document would change."}
    </p>
  );
}

interface DocumentFormProps {
  area: RefObject<HTMLTextAreaElement | null>;
  document: string;
  busy: boolean;
  onReview: () => void;
}

/** Accepts a document that the operator pastes or opens from a file. */
function DocumentForm({ area, document, busy, onReview }: DocumentFormProps) {
  const session = useSession();
  const field = useId();
  const write = (text: string) => {
    session.document.value = text;
  };
  return (
    <form
      class="panel document"
      aria-busy={busy}
      onSubmit={(event) => {
        event.preventDefault();
        onReview();
      }}
    >
      <label for={field}>Configuration document, YAML or JSON</label>
      <textarea
        id={field}
        ref={area}
        class="mono"
        rows={16}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        wrap="off"
        placeholder={EXAMPLE}
        value={document}
        aria-keyshortcuts="Control+Enter Meta+Enter"
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) onReview();
        }}
      />
      <div class="actions">
        <Button type="submit" look="main" aria-disabled={busy || document.trim() === ""}>
          {busy ? "Reviewing …" : "Review the changes"}
        </Button>
        <FileField onText={write} />
        <span class="quiet small">Ctrl+Enter also reviews the document.</span>
      </div>
    </form>
  );
}

function FileField({ onText }: { onText: (text: string) => void }) {
  const session = useSession();
  const id = useId();
  const open = async (chosen: File | undefined) => {
    if (chosen === undefined) return;
    onText(await chosen.text());
    session.announce(`The document is now the text of ${chosen.name}.`);
  };
  return (
    <>
      <input
        id={id}
        class="sr"
        type="file"
        accept=".yaml,.yml,.json"
        onChange={(event) => void open(event.currentTarget.files?.[0])}
      />
      <label class="button file" for={id}>
        Open a file
      </label>
    </>
  );
}

interface ShownProps {
  outcome: Outcome | null;
  document: string;
  onApply: () => void;
  onReview: () => void;
  onShow: (place: { start: number; end: number }) => void;
}

function Shown({ outcome, document, onApply, onReview, onShow }: ShownProps) {
  if (outcome === null) return null;
  if (outcome.is === "done") return <AppliedNotice done={outcome.done} />;
  if (outcome.document !== document) {
    return <p class="notice">The document changed after the review. Review it again.</p>;
  }
  if (outcome.is === "reviewed") return <ReviewedDocument review={outcome.review} onApply={onApply} />;
  const { failure } = outcome;
  if (failure.fields.length > 0) return <Violations document={document} failure={failure} onShow={onShow} />;
  return <FailureNotice failure={failure} onRetry={failure.kind === "away" ? onReview : undefined} />;
}

function AppliedNotice({ done: { applied } }: { done: Done }) {
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

interface ViolationsProps {
  document: string;
  failure: Failure;
  onShow: (place: { start: number; end: number }) => void;
}

/** Lists the problems of a document. Each problem links to its line in the text. */
function Violations({ document, failure, onShow }: ViolationsProps) {
  const placed = placeViolations(document, failure.fields);
  return (
    <section class="notice notice-bad" aria-labelledby="problems">
      <h2 id="problems" class="notice-title">
        {counted(placed.length, "problem", "problems")} in the document
      </h2>
      <p>Nothing was written.</p>
      <ol class="problems">
        {placed.map(({ path, message, place }) => (
          <li key={path + message}>
            {place !== null && (
              <button type="button" class="link" onClick={() => onShow(place)}>
                Line {place.line}
              </button>
            )}{" "}
            {path !== "" && <code>{path}</code>} <Said text={message} />
          </li>
        ))}
      </ol>
    </section>
  );
}
