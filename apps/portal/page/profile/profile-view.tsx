import { NAME_LENGTH_MAX } from "@ostiary/lib/contracts/identity-api";
import { Button, FailureNotice, Form, Notice } from "@ostiary/lib/page";
import { CopiedId } from "../parts/confirm.tsx";
import { NameForm } from "../parts/name-form.tsx";
import { problemOf, useForm } from "../parts/use-problems.ts";
import { addressOf, PROFILE } from "../portal-address.ts";
import { useSession } from "../portal-session.ts";
import { useTexts } from "../texts/texts.ts";

export function ProfileView() {
  const session = useSession();
  const { profile: t } = useTexts();
  const person = session.person.value;
  return (
    <>
      <p class="lead">{t.lead}</p>
      <NameForm
        name={person?.name ?? person?.claimed ?? ""}
        label={t.name}
        isMain
        write={(name) => session.rename(name)}
        done={({ display_name }) => session.announce(t.saved(display_name ?? ""))}
      />
      <h2>{t.id}</h2>
      <p class="actions">
        <CopiedId id={person?.id ?? ""} />
      </p>
    </>
  );
}

/** Offers a person without a name the name of the identity provider. */
export function NameOffer() {
  const session = useSession();
  const { profile: t } = useTexts();
  const form = useForm();
  const person = session.person.value;
  if (person === null || person.name !== null || session.address.value.path === PROFILE.path) return null;
  const { claimed } = person;
  const offered =
    claimed !== null && problemOf(claimed, { lengthMax: NAME_LENGTH_MAX }) === null ? claimed : null;
  const use = (name: string) =>
    form.send(
      {},
      () => session.rename(name),
      () => session.announce(t.saved(name)),
    );
  return (
    <Notice>
      <p>{offered === null ? t.ask : t.offer(offered)}</p>
      {form.failure !== null && <FailureNotice failure={form.failure} />}
      <Form class="actions" busy={form.busy} onSubmit={() => offered !== null && use(offered)}>
        {offered !== null && (
          <Button type="submit" aria-disabled={form.busy}>
            {t.use}
          </Button>
        )}
        <a href={addressOf(PROFILE, null)}>{t.other}</a>
      </Form>
    </Notice>
  );
}
