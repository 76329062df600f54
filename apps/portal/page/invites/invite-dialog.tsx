import { EMAIL_LENGTH_MAX, Invite } from "@ostiary/lib/contracts/identity-api";
import { Dialog } from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { pathTo } from "../gateway.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Secret } from "../parts/secret.tsx";
import { SelectField } from "../parts/select-field.tsx";
import { TextField } from "../parts/text-field.tsx";
import { type FieldProblems, problemOf, useProblems } from "../parts/use-problems.ts";
import { RoleField } from "../roles/role-field.tsx";
import { useRoles } from "../roles/roles.ts";
import { useSession, useWrite } from "../session.ts";
import { useTexts } from "../texts/texts.ts";
import { linkOf } from "./link.ts";

interface InviteDialogProps {
  onClose: () => void;
  onChange: () => void;
}

const DAY_SECONDS = 86_400;
const DAYS = ["1", "7", "30"] as const;
const USES = ["1", "5", "25", "unlimited"] as const;

const FIELDS = ["email", "role", "expires_in_seconds", "max_uses"] as const;

/** Creates an invitation, and shows its link. */
export function InviteDialog({ onClose, onChange }: InviteDialogProps) {
  const t = useTexts().invites;
  const session = useSession();
  const roles = useRoles();
  const writing = useWrite();
  const [email, setEmail] = useState("");
  const [chosen, setRole] = useState<string | null>(null);
  const [bounds, setBounds] = useState<InviteBounds>({ days: "7", uses: "1" });
  const [created, setCreated] = useState<Invite | null>(null);
  const role = chosen ?? roles.answer?.default_role ?? null;
  const end = () => {
    onClose();
    onChange();
  };
  if (created?.token !== undefined) return <CreatedDialog token={created.token} onClose={end} />;
  const problems = useProblems(writing.failure);
  const create = () =>
    problems.pass({ email: problemOf(email, { length_max: EMAIL_LENGTH_MAX, optional: true }) }) &&
    writing.write(
      () =>
        session.gateway.send(Invite, pathTo("org", "invites"), {
          as: "member",
          method: "POST",
          body: {
            ...(email.trim() !== "" && { email }),
            ...(role !== null && { role }),
            expires_in_seconds: Number(bounds.days) * DAY_SECONDS,
            max_uses: bounds.uses === "unlimited" ? null : Number(bounds.uses),
          },
        }),
      setCreated,
    );
  return (
    <Confirm
      title={t.create}
      action={t.make}
      writing={writing}
      problems={problems}
      fields={FIELDS}
      onConfirm={() => void create()}
      onClose={onClose}
      onLookAgain={end}
    >
      <TextField
        label={t.email}
        value={email}
        help={t.emailHelp}
        problem={problems.of("email")}
        onInput={setEmail}
      />
      {role !== null && (
        <RoleField role={role} roles={roles.answer} problem={problems.of("role")} onChange={setRole} />
      )}
      <Bounds bounds={bounds} problems={problems} onChange={setBounds} />
    </Confirm>
  );
}

/** The bounds of an invitation: for how many days, and how many times, people can use it. */
interface InviteBounds {
  days: (typeof DAYS)[number];
  uses: (typeof USES)[number];
}

interface BoundsProps {
  bounds: InviteBounds;
  problems: FieldProblems;
  onChange: (bounds: InviteBounds) => void;
}

/** Lets the sender choose the bounds of an invitation. */
function Bounds({ bounds, problems, onChange }: BoundsProps) {
  const t = useTexts().invites;
  return (
    <>
      <SelectField
        label={t.days}
        value={bounds.days}
        options={DAYS.map((value) => ({ value, text: t.inDays(Number(value)) }))}
        problem={problems.of("expires_in_seconds")}
        onChange={(days) => onChange({ ...bounds, days })}
      />
      <SelectField
        label={t.max_uses}
        value={bounds.uses}
        options={USES.map((value) => ({ value, text: value === "unlimited" ? t.unlimited : value }))}
        problem={problems.of("max_uses")}
        onChange={(uses) => onChange({ ...bounds, uses })}
      />
    </>
  );
}

/** Shows the link of a new invitation. */
function CreatedDialog({ token, onClose }: { token: string; onClose: () => void }) {
  const t = useTexts().invites;
  const { close } = useTexts();
  return (
    <Dialog
      title={t.created}
      onClose={onClose}
      actions={
        <button type="button" class="button button-main" onClick={onClose}>
          {close}
        </button>
      }
    >
      <p>{t.createdHelp}</p>
      <Secret value={linkOf(token)} label={t.link} copy={t.copyLink} />
    </Dialog>
  );
}
