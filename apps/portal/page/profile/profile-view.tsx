import { NAME_LENGTH_MAX } from "@ostiary/lib/contracts/identity-api";
import { Button, CopyButton, FailureNotice, Form, TextField, useDraft } from "@ostiary/lib/page";
import { useSession } from "../page-session.ts";
import { problemOf, useForm } from "../parts/use-problems.ts";
import { useTexts } from "../texts/texts.ts";

/** Shows the person's name, which the person can change, and id. */
export function ProfileView() {
  const session = useSession();
  const { profile: t, organizations, overview } = useTexts();
  const person = session.person.value;
  const [name, setName] = useDraft(person?.name ?? person?.claimed ?? "");
  const form = useForm();
  const { busy, failure } = form;
  const save = () =>
    form.send(
      { name: problemOf(name, { lengthMax: NAME_LENGTH_MAX }) },
      () => session.rename(name),
      () => session.announce(t.saved(name.trim())),
    );
  return (
    <>
      <p class="lead quiet">{t.lead}</p>
      <Form class="panel" busy={busy} problems={form} onSubmit={save}>
        <TextField
          label={t.name}
          value={name}
          onInput={setName}
          help={organizations.nameHelp}
          problem={form.of("name") ?? form.of("display_name")}
          required
        />
        {failure !== null && <FailureNotice failure={failure} shown={["display_name"]} />}
        <div class="actions">
          <Button type="submit" look="main" aria-disabled={busy}>
            {busy ? t.saving : t.save}
          </Button>
        </div>
      </Form>
      <h2>{t.id}</h2>
      <p class="actions">
        <code>{person?.id}</code> <CopyButton text={person?.id ?? ""} label={overview.copy} />
      </p>
    </>
  );
}
