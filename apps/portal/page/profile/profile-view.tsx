import { CopyButton } from "@ostiary/lib/page";
import { useSession } from "../page-session.ts";
import { NameForm } from "../parts/name-form.tsx";
import { useTexts } from "../texts/texts.ts";

export function ProfileView() {
  const session = useSession();
  const { profile: t, overview } = useTexts();
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
        <code>{person?.id}</code> <CopyButton text={person?.id ?? ""} label={overview.copy} />
      </p>
    </>
  );
}
