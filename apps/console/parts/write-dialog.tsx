import type { GivenNote } from "@ostiary/lib/contracts/registry-api";
import {
  type Failure,
  FailureNotice,
  type FailureNoticeProps,
  Question,
  type Writing,
} from "@ostiary/lib/page";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { isStale } from "../registry/client.ts";
import { NoteFields } from "./note-fields.tsx";
import { WaitChoice } from "./wait-choice.tsx";

interface WriteDialogProps {
  title: string;
  /** The label of the button that writes nothing. */
  leave: string;
  /** The label of the button that writes. */
  confirm: string;
  /** The label of the `confirm` button during the write. */
  confirming: string;
  isDangerous?: boolean;
  /** Whether the write button is enabled. */
  isReady?: boolean;
  writing: Pick<Writing, "busy" | "failure">;
  /** Returns the title and the retry button of the failure notice. */
  afterFailure: (failure: Failure) => Omit<FailureNoticeProps, "failure">;
  note: GivenNote;
  onNote: (note: GivenNote) => void;
  /** The end of the label "Wait until …". */
  goal?: string;
  onWrite: (wait: boolean) => void;
  onClose: () => void;
  children: ComponentChildren;
  /** The last element of the form, such as the field for the name of a service to delete. */
  last?: ComponentChildren;
}

/** Asks the operator to confirm a write, to give a reason, and to choose whether to wait for gateways. */
export function WriteDialog({
  title,
  writing,
  isReady = true,
  onWrite,
  onClose,
  ...props
}: WriteDialogProps) {
  const { busy, failure } = writing;
  const [wait, setWait] = useState(true);
  return (
    <Question
      title={title}
      busy={busy}
      cancel={props.leave}
      action={busy ? props.confirming : props.confirm}
      look={props.isDangerous ? "danger-main" : "main"}
      off={busy || !isReady}
      onConfirm={() => onWrite(wait)}
      onClose={onClose}
    >
      {props.children}
      {failure !== null && <FailureNotice failure={failure} {...props.afterFailure(failure)} />}
      <NoteFields note={props.note} onChange={props.onNote} failure={failure} />
      <WaitChoice wait={wait} onChange={setWait} goal={props.goal} />
      {props.last}
    </Question>
  );
}

/**
 * Returns the title and the retry button of the notice about a failed write. The button reloads the data. The
 * notice has the button if the data is stale, or if the write may have taken effect.
 */
export function lookAgainAfter(failure: Failure, title: string, onRetry: () => void) {
  const { outcomeUnknown } = failure;
  return {
    title: outcomeUnknown ? title : undefined,
    onRetry: isStale(failure) || outcomeUnknown ? onRetry : undefined,
    retryLabel: "Load the current state",
  };
}
