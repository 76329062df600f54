import { Invite } from "@ostiary/lib/contracts/identity-api";
import { Button, CopyButton, DataTable, Time } from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { pathTo } from "../gateway.ts";
import { ConfirmDeletion } from "../parts/confirm-deletion.tsx";
import { SearchedList } from "../parts/searched-list.tsx";
import { useList } from "../parts/use-pages.ts";
import { useTexts } from "../texts/texts.ts";
import { InviteDialog } from "./invite-dialog.tsx";
import { linkOf } from "./link.ts";

/** Lists, creates and revokes invitations. */
export function InvitesView() {
  const t = useTexts().invites;
  const [creating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<Invite | null>(null);
  const pages = useList("invites", Invite, pathTo("org", "invites"));
  return (
    <>
      <p class="lead">{t.lead}</p>
      <p class="actions">
        <Button look="main" onClick={() => setCreating(true)}>
          {t.create}
        </Button>
      </p>
      <SearchedList
        pages={pages}
        texts={t}
        textOf={({ email, role, token_prefix }) => `${email ?? ""} ${role ?? ""} ${token_prefix}`}
      >
        {(invites) => <InviteTable invites={invites} onRevoke={setRevoking} />}
      </SearchedList>
      {creating && <InviteDialog onClose={() => setCreating(false)} onChange={pages.again} />}
      {revoking !== null && (
        <RevokeDialog invite={revoking} onClose={() => setRevoking(null)} onChange={pages.again} />
      )}
    </>
  );
}

function InviteTable({
  invites,
  onRevoke,
}: {
  invites: readonly Invite[];
  onRevoke: (invite: Invite) => void;
}) {
  const t = useTexts().invites;
  const { members } = useTexts();
  return (
    <DataTable
      label={t.title}
      columns={[
        t.columns.invite,
        t.columns.role,
        t.columns.status,
        t.columns.uses,
        t.columns.ends,
        t.columns.actions,
      ]}
      rows={invites.map((invite) => ({
        key: invite.id,
        cells: [
          invite.email ?? <code>{invite.token_prefix}</code>,
          invite.role ?? members.noRole,
          t.status[invite.status],
          t.uses(invite.use_count, invite.max_uses),
          <Time at={invite.expires_at} />,
          <span class="actions">
            {invite.token !== undefined && <CopyButton text={linkOf(invite.token)} label={t.copyLink} />}
            {invite.status === "active" && <Button onClick={() => onRevoke(invite)}>{t.revoke}</Button>}
          </span>,
        ],
      }))}
    />
  );
}

interface RevokeDialogProps {
  invite: Invite;
  onClose: () => void;
  onChange: () => void;
}

function RevokeDialog({ invite, ...dialog }: RevokeDialogProps) {
  const t = useTexts().invites;
  return (
    <ConfirmDeletion
      {...dialog}
      title={t.revokeTitle(invite.email ?? invite.token_prefix)}
      action={t.revoke}
      as="member"
      path={pathTo("org", "invites", invite.id)}
      done={t.revoked}
    >
      <p>{t.revokeHelp}</p>
    </ConfirmDeletion>
  );
}
