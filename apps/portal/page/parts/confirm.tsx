import { FailureNotice, Form, Notice, Question, type Writing } from "@ostiary/lib/page";
import type { ComponentChildren } from "preact";
import { useTexts } from "../texts/texts.ts";
import type { FieldProblems } from "./use-problems.ts";

interface ConfirmProps {
  title: string;
  /** The label of the button that makes the change. */
  action: string;
  writing: Writing;
  /** The problems of the fields among the children. */
  problems?: FieldProblems;
  /** The names of the form fields among the children. */
  fields?: readonly string[];
  /** Whether the change cannot be undone. */
  danger?: boolean;
  /** The reason why the change is not possible now, or null. A reason disables the button. */
  refused?: string | null;
  onConfirm: () => void;
  onClose: () => void;
  /** Called to reload the data after a conflict, or if the outcome of the change is unknown. */
  onChange?: () => unknown;
  children: ComponentChildren;
}

/**
 * Asks the person to confirm a change. If the outcome is unknown, the person cannot send the change again
 * here, but can reload the data.
 */
export function Confirm(props: ConfirmProps) {
  const { title, writing, problems, fields, refused = null, onClose, onChange } = props;
  const { cancel } = useTexts();
  const { busy, failure } = writing;
  const off = busy || refused !== null || failure?.outcomeUnknown === true;
  const lookAgain = () => {
    onClose();
    onChange?.();
  };
  return (
    <Question
      title={title}
      busy={busy}
      cancel={cancel}
      action={props.action}
      look={props.danger ? "danger" : "main"}
      off={off}
      form={FORM}
      onClose={onClose}
    >
      <Form id={FORM} class="fields" problems={problems} onSubmit={() => !off && props.onConfirm()}>
        {props.children}
      </Form>
      <Refused why={refused} />
      {failure !== null && (
        <FailureNotice
          failure={failure}
          shown={fields}
          onRetry={failure.outcomeUnknown || failure.kind === "conflict" ? lookAgain : undefined}
        />
      )}
    </Question>
  );
}

/** Shows why a change is not possible now. Shows nothing for null. */
export function Refused({ why }: { why: string | null }) {
  if (why === null) return null;
  return (
    <Notice tone="warn">
      <p>{why}</p>
    </Notice>
  );
}

/** The id of the form. One dialog is open at a time, so the id is unique. */
const FORM = "confirmed";
