import {
  Button,
  ConfirmDialog,
  CopyButton,
  Dialog,
  FailureNotice,
  Form,
  Notice,
  TextField,
} from "@ostiary/lib/page";
import { Type } from "@sinclair/typebox";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useSession } from "../portal-session.ts";
import { useTexts } from "../texts/texts.ts";
import { type ChangeForm, useForm } from "./use-problems.ts";

interface ConfirmProps {
  title: string;
  action: string;
  form: ChangeForm;
  /** The names of the form fields among the children. */
  fields?: readonly string[];
  /** Whether the change cannot be undone. */
  danger?: boolean;
  /** A sentence that replaces the page's own for a refusal. */
  refusal?: string;
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
  const { title, form, fields, refusal, onClose, onChange } = props;
  const { cancel } = useTexts();
  const { busy, failure } = form;
  const off = busy || failure?.outcomeUnknown === true;
  const lookAgain = () => {
    onClose();
    onChange?.();
  };
  return (
    <ConfirmDialog
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
      {failure !== null && (
        <FailureNotice
          failure={failure}
          text={failure.kind === "invalid" ? refusal : undefined}
          shown={fields}
          onRetry={failure.outcomeUnknown || failure.kind === "conflict" ? lookAgain : undefined}
        />
      )}
    </ConfirmDialog>
  );
}

/** The id of the form. One dialog is open at a time, so the id is unique. */
const FORM = "confirmed";

interface ConfirmDeletionProps extends Omit<ConfirmProps, "form" | "danger" | "onConfirm"> {
  path: string;
  /** The name that the person must type first. */
  typed?: string;
  /** The text that a screen reader announces after the deletion. */
  done: string;
  /** Called when the data may have changed. */
  onChange: () => unknown;
  /** Called after the deletion. By default, calls `onChange` while the dialog is still shown. */
  onDeleted?: (isLeft: boolean) => void;
}

/** Asks the person to confirm a deletion, and deletes the resource at `path`. */
export function ConfirmDeletion({ path, done, typed, onDeleted, ...props }: ConfirmDeletionProps) {
  const { children, ...dialog } = props;
  const session = useSession();
  const { settings } = useTexts();
  const form = useForm();
  const [written, write] = useState("");
  const isTyped = typed === undefined || written.trim() === typed;
  const remove = () =>
    form.send(
      { typed: isTyped ? null : (texts) => texts.settings.typeFirst },
      () => session.gateway.send(Type.Null(), path, { method: "DELETE" }),
      (_, isLeft) => {
        session.announce(done);
        if (!isLeft) dialog.onClose();
        if (onDeleted !== undefined) onDeleted(isLeft);
        else if (!isLeft) dialog.onChange();
      },
    );
  return (
    <Confirm {...dialog} danger form={form} onConfirm={remove}>
      {children}
      {typed !== undefined && (
        <TextField label={settings.typeName(typed)} {...form.field("typed", written, write)} />
      )}
    </Confirm>
  );
}

/** Shows a text to copy, such as a new key, with a button that copies it. */
export function Secret({ value, label, copy }: { value: string; label: string; copy: string }) {
  return (
    <figure class="secret" aria-label={label}>
      <figcaption>{label}</figcaption>
      <code>{value}</code> <CopyButton text={value} label={copy} />
    </figure>
  );
}

/** Shows an id with a button that copies it. */
export function CopiedId({ id }: { id: string }) {
  return (
    <>
      <code>{id}</code> <CopyButton text={id} label={useTexts().overview.copy} />
    </>
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
  const [asking, setAsking] = useState(false);
  return (
    <Dialog
      title={title}
      onClose={() => setAsking(true)}
      actions={
        <>
          {asking && (
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
      {asking && (
        <Notice tone="warn" role="alert">
          <p>{lost.question}</p>
        </Notice>
      )}
    </Dialog>
  );
}
