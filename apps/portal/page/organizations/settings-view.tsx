import { Organization } from "@ostiary/lib/contracts/identity-api";
import { Button, Loaded, useRequest } from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { pathTo } from "../gateway.ts";
import { ConfirmDeletion } from "../parts/confirm.tsx";
import { NameForm } from "../parts/name-form.tsx";
import { useSession } from "../portal-session.ts";
import { DELETION_LABEL, RENAME_LABEL } from "../roles/roles.tsx";
import { useTexts } from "../texts/texts.ts";

export function SettingsView() {
  const session = useSession();
  const { settings: t, overview } = useTexts();
  const path = pathTo("org");
  const request = useRequest(() => session.gateway.send(Organization, path), "organization");
  const mayRename = session.may(RENAME_LABEL);
  const mayDelete = session.may(DELETION_LABEL);
  return (
    <Loaded request={request}>
      {({ name }) => (
        <>
          {!mayRename && !mayDelete && <p class="lead">{t.nothing}</p>}
          {mayRename && (
            <NameForm
              name={name}
              isMain
              write={(wanted) =>
                session.gateway.send(Organization, path, { method: "PATCH", body: { name: wanted } })
              }
              done={(organization) => {
                session.announce(overview.renamed(organization.name));
                void session.organization.list();
                void request.reload();
              }}
              onUnknown={request.reload}
            >
              <h2>{overview.rename}</h2>
            </NameForm>
          )}
          {mayDelete && <Deletion name={name} onChange={request.reload} />}
        </>
      )}
    </Loaded>
  );
}

/** Deletes the organization after the person has typed its name. */
function Deletion({ name, onChange }: { name: string; onChange: () => Promise<void> }) {
  const session = useSession();
  const { settings: t } = useTexts();
  const [open, setOpen] = useState(false);
  const { organization_id } = session.address.value;
  return (
    <section class="panel" aria-labelledby="deletion">
      <h2 id="deletion">{t.remove}</h2>
      <p>{t.removeHelp}</p>
      <div class="actions">
        <Button look="danger" onClick={() => setOpen(true)}>
          {t.remove}
        </Button>
      </div>
      {open && (
        <ConfirmDeletion
          title={t.removeTitle(name)}
          action={t.remove}
          path={pathTo("org")}
          done={t.removed}
          typed={name}
          onClose={() => setOpen(false)}
          onChange={onChange}
          onDeleted={() => session.showOrganizationsAfter(organization_id)}
        >
          <p>{t.removeHelp}</p>
        </ConfirmDeletion>
      )}
    </section>
  );
}
