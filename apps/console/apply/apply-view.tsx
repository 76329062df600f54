import type { Applied, GivenNote } from "@ostiary/lib/contracts/registry-api";
import { Button, type Failure, FailureNotice, Form } from "@ostiary/lib/page";
import { useId, useRef, useState } from "preact/hooks";
import { fragmentOf } from "../console-address.ts";
import { useOperator, useSession, useSubmit } from "../console-session.ts";
import { mayWrite } from "../operator/permissions.ts";
import { counted, MessageText, ResultNotice } from "../parts/shown.tsx";
import { Propagated } from "../parts/write-dialog.tsx";
import { reviewDocument } from "../registry/calls.ts";
import { ApplyDialog, ReviewedDocument } from "./apply-dialog.tsx";
import { placeViolations, type TextRange } from "./violation-places.ts";

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
  const session = useSession();
  const document = session.document.value;
  const writes = mayWrite(useOperator());
  const { busy, last, submit } = useSubmit(reviewDocument);
  const [applying, setApplying] = useState(false);
  /** The result of an apply after the last review. */
  const [done, setDone] = useState<Applied | null>(null);
  const note = useState<GivenNote>({});
  const area = useRef<HTMLTextAreaElement>(null);
  const [field, file] = [useId(), useId()];

  const open = async (chosen: File | undefined) => {
    if (chosen === undefined) return;
    session.document.value = await chosen.text();
    session.announce(`The document is now the text of ${chosen.name}.`);
  };
  const review = async () => {
    if (busy || document.trim() === "") return area.current?.focus();
    setApplying(false);
    await submit(document);
    setDone(null);
  };
  const shown = () => {
    if (done !== null) return <AppliedNotice applied={done} />;
    if (last === null) return null;
    if (last.input !== document) {
      return <p class="notice">The document changed after the review. Review it again.</p>;
    }
    const { result } = last;
    if (result.ok)
      return <ReviewedDocument review={result.value} busy={busy} onApply={() => setApplying(true)} />;
    const { failure } = result;
    if (failure.fields.length === 0)
      return (
        <FailureNotice failure={failure} onRetry={failure.kind === "unavailable" ? review : undefined} />
      );
    const select = ({ start, end }: TextRange) => {
      area.current?.focus();
      area.current?.setSelectionRange(start, end);
    };
    return <Violations document={document} failure={failure} onShow={select} />;
  };

  return (
    <>
      <p class="quiet lead">
        The registry creates or replaces all services in the document, or none of them. It does not change
        other services.{" "}
        {writes ? "You see the changes before they are written." : "You see what the document would change."}
      </p>
      <Form class="panel document" busy={busy} onSubmit={() => void review()}>
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
          onInput={(event) => {
            session.document.value = event.currentTarget.value;
          }}
        />
        <div class="actions">
          <Button type="submit" look="main" aria-disabled={busy || document.trim() === ""}>
            {busy ? "Reviewing …" : "Review the changes"}
          </Button>
          <input
            id={file}
            class="sr"
            type="file"
            accept=".yaml,.yml,.json"
            onChange={(event) => void open(event.currentTarget.files?.[0])}
          />
          <label class="button file" for={file}>
            Open a file
          </label>
        </div>
      </Form>
      <div aria-live="polite">{shown()}</div>
      {applying && last?.result.ok && (
        <ApplyDialog
          document={last.input}
          review={last.result.value}
          note={note}
          onClose={() => setApplying(false)}
          onReview={review}
          onDone={(applied) => {
            setApplying(false);
            note[1]({});
            setDone(applied);
          }}
        />
      )}
    </>
  );
}

function AppliedNotice({ applied: { results, propagation } }: { applied: Applied }) {
  return (
    <ResultNotice tone="good" title="The document is applied">
      <ul class="spread">
        {results.map(({ service, revision }) => (
          <li key={service}>
            <a href={fragmentOf({ name: "revisions", service, revision })}>
              {service}, revision {revision}
            </a>
          </li>
        ))}
      </ul>
      <Propagated propagation={propagation} />
    </ResultNotice>
  );
}

interface ViolationsProps {
  document: string;
  failure: Failure;
  onShow: (place: TextRange) => void;
}

/** Lists the problems of a document. Each problem links to its line in the text. */
function Violations({ document, failure, onShow }: ViolationsProps) {
  const placed = placeViolations(document, failure.fields);
  return (
    <ResultNotice tone="bad" title={`${counted(placed.length, "problem")} in the document`}>
      <p>Nothing was written.</p>
      <ol class="problems">
        {placed.map(({ path, message, place }) => (
          <li key={path + message}>
            {place !== null && (
              <button type="button" class="link" onClick={() => onShow(place)}>
                Line {place.line}
              </button>
            )}{" "}
            {path !== "" && <code>{path}</code>} <MessageText text={message} />
          </li>
        ))}
      </ol>
    </ResultNotice>
  );
}
