import { EMAIL_LENGTH_MAX, Invite } from "@ostiary/lib/contracts/identity-api";
import { Button, CopyButton, DataTable, SearchedList, SelectField, TextField, Time } from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { pathTo } from "../gateway.ts";
import { Confirm, ConfirmDeletion, Secret, SecretDialog } from "../parts/confirm.tsx";
import { problemOf, useForm } from "../parts/use-problems.ts";
import { useList, useSession } from "../portal-session.ts";
import { RoleField, useRoles } from "../roles/roles.tsx";
import { useTexts } from "../texts/texts.ts";

export function InvitesView() {
  const { invites: t, members } = useTexts();
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
        {(invites) => (
          <DataTable
            label={t.title}
            columns={Object.values(t.columns)}
            rows={invites.map((invite) => ({
              key: invite.id,
              cells: [
                invite.email ?? <code>{invite.token_prefix}</code>,
                invite.role ?? members.noRole,
                t.status[invite.status],
                t.uses(invite.use_count, invite.max_uses),
                <Time at={invite.expires_at} />,
                (invite.token !== undefined || invite.status === "active") && (
                  <span class="actions">
                    {invite.token !== undefined && (
                      <CopyButton text={linkOf(invite.token)} label={t.copyLink} />
                    )}
                    {invite.status === "active" && (
                      <Button onClick={() => setRevoking(invite)}>{t.revoke}</Button>
                    )}
                  </span>
                ),
              ],
            }))}
          />
        )}
      </SearchedList>
      {creating && <InviteDialog onClose={() => setCreating(false)} onChange={pages.reload} />}
      {revoking !== null && (
        <ConfirmDeletion
          title={t.revokeTitle(revoking.email ?? revoking.token_prefix)}
          action={t.revoke}
          path={pathTo("org", "invites", revoking.id)}
          done={t.revoked}
          onClose={() => setRevoking(null)}
          onChange={pages.reload}
        >
          <p>{t.revokeHelp}</p>
        </ConfirmDeletion>
      )}
    </>
  );
}

const DAY_SECONDS = 86_400;
const DAYS = ["1", "7", "30"] as const;
const USES = ["1", "5", "25", "unlimited"] as const;

const FIELDS = ["email", "role", "expires_in_seconds", "max_uses"] as const;

function InviteDialog({ onClose, onChange }: { onClose: () => void; onChange: () => void }) {
  const t = useTexts().invites;
  const { gateway } = useSession();
  const roles = useRoles();
  const form = useForm();
  const [created, setCreated] = useState<Invite | null>(null);
  const [email, setEmail] = useState("");
  const [chosen, setRole] = useState<string | null>(null);
  const [days, setDays] = useState<(typeof DAYS)[number]>("7");
  const [uses, setUses] = useState<(typeof USES)[number]>("1");
  const role = chosen ?? roles.value?.default_role ?? null;
  const body = {
    ...(email.trim() !== "" && { email }),
    ...(role !== null && { role }),
    expires_in_seconds: Number(days) * DAY_SECONDS,
    max_uses: uses === "unlimited" ? null : Number(uses),
  };
  const create = () =>
    form.send(
      { email: problemOf(email, { lengthMax: EMAIL_LENGTH_MAX, optional: true }) },
      () => gateway.send(Invite, pathTo("org", "invites"), { method: "POST", body }),
      setCreated,
    );
  if (created?.token !== undefined) {
    const end = () => {
      onClose();
      onChange();
    };
    return (
      <SecretDialog title={t.created} help={t.createdHelp} close={t.stored} lost={t.lost} onClose={end}>
        <Secret value={linkOf(created.token)} label={t.link} copy={t.copyLink} />
      </SecretDialog>
    );
  }
  return (
    <Confirm
      title={t.create}
      action={t.make}
      form={form}
      fields={FIELDS}
      onConfirm={create}
      onClose={onClose}
      onChange={onChange}
    >
      <TextField label={t.email} help={t.emailHelp} {...form.field("email", email, setEmail)} />
      {role !== null && <RoleField roles={roles.value} {...form.field("role", role, setRole)} />}
      <SelectField
        label={t.days}
        options={DAYS.map((value) => ({ value, text: t.inDays(Number(value)) }))}
        {...form.field("expires_in_seconds", days, setDays)}
      />
      <SelectField
        label={t.max_uses}
        options={USES.map((value) => ({ value, text: value === "unlimited" ? t.unlimited : value }))}
        {...form.field("max_uses", uses, setUses)}
      />
    </Confirm>
  );
}

/**
 * Returns the link of an invitation. The token is in the fragment, which browsers send neither to the server nor in a
 * Referer header. A mail program that escapes `#` makes the token the query, which the gateway takes. It refuses an
 * escaped `#` in the path.
 */
function linkOf(token: string): string {
  return `${location.origin}/portal/invite?#${encodeURIComponent(token)}`;
}
