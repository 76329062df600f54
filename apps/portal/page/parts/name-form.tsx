import { NAME_LENGTH_MAX } from "@ostiary/lib/contracts/identity-api";
import { Button, type Done, FailureNotice, Form, type Result, TextField, useDraft } from "@ostiary/lib/page";
import type { ComponentChildren } from "preact";
import { useTexts } from "../texts/texts.ts";
import { problemOf, useForm } from "./use-problems.ts";

interface NameFormProps<Named> {
  /** The current name. Empty for a new organization. */
  name: string;
  label?: string;
  /** The label of the submit button, if it does more than to save the name. */
  button?: string;
  isMain?: boolean;
  write: (name: string) => Promise<Result<Named>>;
  done: Done<Named>;
  /** Called to reload the data if the outcome of the write is unknown. */
  onUnknown?: () => unknown;
  children?: ComponentChildren;
}

/** Shows a form that writes the name of something. */
export function NameForm<Named>(props: NameFormProps<Named>) {
  const { name, label, button, isMain = false, write, done, onUnknown, children } = props;
  const { organizations: texts, saving, saveName } = useTexts();
  const [wanted, setWanted] = useDraft(name);
  const form = useForm();
  const { busy, failure, clear } = form;
  const submit = () =>
    form.send({ name: problemOf(wanted, { lengthMax: NAME_LENGTH_MAX }) }, () => write(wanted), done);
  const lookAgain = () => {
    clear();
    onUnknown?.();
  };
  return (
    <Form class="panel" busy={busy} problems={form} onSubmit={submit}>
      {children}
      <TextField
        label={label ?? texts.name}
        value={wanted}
        onInput={setWanted}
        help={texts.nameHelp}
        problem={form.of("name") ?? form.of("display_name")}
        required
      />
      {failure !== null && (
        <FailureNotice
          failure={failure}
          shown={["name", "display_name"]}
          onRetry={failure.outcomeUnknown && onUnknown !== undefined ? lookAgain : undefined}
        />
      )}
      <div class="actions">
        <Button type="submit" look={isMain ? "main" : undefined} aria-disabled={busy}>
          {busy ? saving : (button ?? saveName)}
        </Button>
      </div>
    </Form>
  );
}
