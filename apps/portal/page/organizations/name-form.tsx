import { NAME_LENGTH_MAX, type Organization } from "@ostiary/lib/contracts/identity-api";
import { type Answer, Button, FailureNotice, Form, TextField, useDraft } from "@ostiary/lib/page";
import type { ComponentChildren } from "preact";
import { problemOf, useForm } from "../parts/use-problems.ts";
import { useTexts } from "../texts/texts.ts";

interface NameFormProps {
  /** The current name. Empty for a new organization. */
  name: string;
  /** The label of the submit button, and its label while the request is in flight. */
  button: readonly [idle: string, busy: string];
  isMain?: boolean;
  write: (name: string) => Promise<Answer<Organization>>;
  done: (organization: Organization) => void;
  /**
   * Called to reload the data if the outcome of the write is unknown. `clear` removes the notice about the
   * failure.
   */
  onUnknown: (clear: () => void) => unknown;
  retryLabel?: string;
  children: ComponentChildren;
}

/** Shows a form that writes the name of an organization. */
export function NameForm({ name, button, isMain = false, write, done, ...props }: NameFormProps) {
  const { organizations: texts } = useTexts();
  const [wanted, setWanted] = useDraft(name);
  const form = useForm();
  const { busy, failure } = form;
  const submit = () =>
    form.send({ name: problemOf(wanted, { lengthMax: NAME_LENGTH_MAX }) }, () => write(wanted), done);
  return (
    <Form class="panel" busy={busy} problems={form} onSubmit={submit}>
      {props.children}
      <TextField
        label={texts.name}
        value={wanted}
        onInput={setWanted}
        help={texts.nameHelp}
        problem={form.of("name")}
        required
      />
      {failure !== null && (
        <FailureNotice
          failure={failure}
          shown={["name"]}
          onRetry={failure.outcomeUnknown ? () => void props.onUnknown(form.clear) : undefined}
          retryLabel={props.retryLabel}
        />
      )}
      <div class="actions">
        <Button type="submit" look={isMain ? "main" : undefined} aria-disabled={busy}>
          {button[busy ? 1 : 0]}
        </Button>
      </div>
    </Form>
  );
}
