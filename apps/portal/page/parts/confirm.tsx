import { Button, CopyButton, Dialog, FailureNotice, Form, Notice, Question } from "@ostiary/lib/page";
import { Type } from "@sinclair/typebox";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Caller } from "../gateway.ts";
import { useSession } from "../page-session.ts";
import { useTexts } from "../texts/texts.ts";
import { type ChangeForm, useForm } from "./use-problems.ts";

interface ConfirmProps {
  title: string;
  /** The label of the button that makes the change. */
  action: string;
  form: ChangeForm;
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
  const { title, form, fields, refused = null, onClose, onChange } = props;
  const { cancel } = useTexts();
  const { busy, failure } = form;
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
      <Form id={FORM} class="fields" problems={form} onSubmit={() => !off && props.onConfirm()}>
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

interface ConfirmDeletionProps {
  title: string;
  action: string;
  as: Caller;
  path: string;
  refused?: string | null;
  /** The text that a screen reader announces after the deletion. */
  done: string;
  onClose: () => void;
  /** Called when the data may have changed. */
  onChange: () => unknown;
  /** Called after the deletion. By default, calls `onChange`. */
  onDeleted?: () => void;
  children: ComponentChildren;
}

/** Asks the person to confirm a deletion, and deletes the resource at `path`. */
export function ConfirmDeletion({ as, path, done, onDeleted, ...dialog }: ConfirmDeletionProps) {
  const session = useSession();
  const form = useForm();
  const remove = () =>
    form.send(
      {},
      () => session.gateway.send(Type.Null(), path, { as, method: "DELETE" }),
      () => {
        session.announce(done);
        dialog.onClose();
        (onDeleted ?? dialog.onChange)();
      },
    );
  return <Confirm {...dialog} danger form={form} onConfirm={remove} />;
}

/** Shows a text that the person must copy now, such as a new key, with a button that copies the text. */
export function Secret({ value, label, copy }: { value: string; label: string; copy: string }) {
  return (
    <figure class="secret" aria-label={label}>
      <figcaption>{label}</figcaption>
      <code>{value}</code> <CopyButton text={value} label={copy} />
    </figure>
  );
}

interface SecretDialogProps {
  title: string;
  help: string;
  /** The label of the button that closes the dialog. */
  close: string;
  /** The question before the dialog closes in another way, because the secret is then lost. */
  lost: { readonly question: string; readonly giveUp: string };
  onClose: () => void;
  children: ComponentChildren;
}

/** Shows new secrets. The page forgets the secrets when the dialog closes. */
export function SecretDialog({ title, help, close, lost, onClose, children }: SecretDialogProps) {
  const [asked, ask] = useState(false);
  return (
    <Dialog
      title={title}
      onClose={() => ask(true)}
      actions={
        <>
          {asked && (
            <Button look="danger" onClick={onClose}>
              {lost.giveUp}
            </Button>
          )}
          <Button look="main" onClick={onClose}>
            {close}
          </Button>
        </>
      }
    >
      <p>{help}</p>
      {children}
      {asked && (
        <Notice tone="warn" role="alert">
          <p>{lost.question}</p>
        </Notice>
      )}
    </Dialog>
  );
}
