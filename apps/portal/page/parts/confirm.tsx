import { Dialog } from "@ostiary/lib/page";
import type { ComponentChildren } from "preact";
import type { Writing } from "../session.ts";
import { useTexts } from "../texts/texts.ts";
import { FailureNotice } from "./failure-notice.tsx";
import { Form } from "./form.tsx";
import type { FieldProblems } from "./use-problems.ts";

interface ConfirmProps {
  title: string;
  /** The words on the button that makes the change. */
  action: string;
  writing: Writing;
  /** The problems of the fields among the children. */
  problems?: FieldProblems;
  /** The names of the form fields among the children. */
  fields?: readonly string[];
  /** Whether the change cannot be undone. */
  danger?: boolean;
  /** Why the change cannot be made now; the button is then off. */
  refused?: string | null;
  onConfirm: () => void;
  onClose: () => void;
  /** Reloads data that a change without an answer may have changed. */
  onLookAgain: () => void;
  children: ComponentChildren;
}

/**
 * Asks before a change. A change without an answer is not sent again; the person looks at the current state
 * instead.
 */
export function Confirm(props: ConfirmProps) {
  const { title, writing, problems, fields, refused = null, onClose, onLookAgain } = props;
  const { busy, failure } = writing;
  const off = busy || refused !== null || failure?.outcome_unknown === true;
  return (
    <Dialog title={title} busy={busy} onClose={onClose} actions={<Buttons {...props} off={off} />}>
      <Form id={FORM} class="fields" problems={problems} onSubmit={() => !off && props.onConfirm()}>
        {props.children}
      </Form>
      <Refused why={refused} />
      {failure !== null && (
        <FailureNotice
          failure={failure}
          shown={fields}
          onRetry={failure.outcome_unknown || failure.kind === "conflict" ? onLookAgain : undefined}
        />
      )}
    </Dialog>
  );
}

/** Shows why a change cannot be made now, or nothing. */
export function Refused({ why }: { why: string | null }) {
  if (why === null) return null;
  return (
    <div class="notice notice-warn">
      <p>{why}</p>
    </div>
  );
}

function Buttons({ action, danger = false, writing, off, onClose }: ConfirmProps & { off: boolean }) {
  const { cancel } = useTexts();
  const { busy } = writing;
  return (
    <>
      <button type="button" class="button" aria-disabled={busy} onClick={() => !busy && onClose()}>
        {cancel}
      </button>
      <button
        type="submit"
        form={FORM}
        class={danger ? "button button-danger" : "button button-main"}
        aria-disabled={off}
      >
        {action}
      </button>
    </>
  );
}

/** One dialog is open at a time, so one id is enough. */
const FORM = "confirmed";
