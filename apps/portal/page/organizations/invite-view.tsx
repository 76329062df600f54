import { InvitePreview, Member } from "@ostiary/lib/contracts/identity-api";
import {
  Button,
  type Failure,
  FailureNotice,
  Form,
  Loaded,
  Notice,
  TextField,
  Time,
  useRequest,
} from "@ostiary/lib/page";
import { useEffect, useState } from "preact/hooks";
import { pathTo } from "../gateway.ts";
import { problemOf, useForm } from "../parts/use-problems.ts";
import { addressOf, ORGANIZATIONS, OVERVIEW } from "../portal-address.ts";
import { type Session, useSession } from "../portal-session.ts";
import { type Texts, useTexts } from "../texts/texts.ts";
import { inviteTokenIn } from "./invite-token.ts";

/** The maximum length of a pasted link. Links that the portal makes are much shorter. */
const LINK_LENGTH_MAX = 2_048;

/** Shows where an invitation leads, and redeems it. Asks for the link if the page was opened without one. */
export function InviteView() {
  const token = useSession().invite.value;
  return token === null ? <PasteForm /> : <Invitation key={token} token={token} />;
}

/** Sends the token of an invitation to an operation of the API. */
function sendToken<Schema extends typeof InvitePreview | typeof Member>(
  { gateway }: Session,
  schema: Schema,
  operation: "preview" | "redeem",
  token: string,
) {
  return gateway.send(schema, pathTo("user", "invites", operation), { method: "POST", body: { token } });
}

function PasteForm() {
  const session = useSession();
  const { invite: t } = useTexts();
  const [pasted, setPasted] = useState("");
  const form = useForm();
  const look = () => {
    if (!form.pass({ token: problemOf(pasted, { lengthMax: LINK_LENGTH_MAX }) })) return;
    session.invite.value = inviteTokenIn(pasted) ?? pasted.trim();
  };
  return (
    <Form class="panel" problems={form} onSubmit={look}>
      <p class="quiet">{t.pasteLead}</p>
      <TextField label={t.paste} help={t.pasteHelp} {...form.field("token", pasted, setPasted)} required />
      <div class="actions">
        <Button type="submit" look="main">
          {t.look}
        </Button>
      </div>
    </Form>
  );
}

function Invitation({ token }: { token: string }) {
  const session = useSession();
  const { invite: t } = useTexts();
  const request = useRequest(() => sendToken(session, InvitePreview, "preview", token), token);
  const { failure } = request;
  if (failure?.kind === "missing" || failure?.kind === "invalid") {
    return (
      <>
        <FailureNotice failure={failure} title={t.missingTitle} text={t.missing} />
        <PasteForm />
      </>
    );
  }
  return (
    <Loaded request={request}>
      {(preview) =>
        preview.member_id !== null ? (
          <Opening organization_id={preview.organization.id} />
        ) : preview.status === "active" ? (
          <Offer token={token} preview={preview} />
        ) : (
          <>
            <Notice tone="warn" title={t.over[preview.status](preview.organization.name)} role="alert">
              <p>{t.overHelp}</p>
            </Notice>
            <Discard />
          </>
        )
      }
    </Loaded>
  );
}

/** Opens the organization of an invitation that the person has already accepted. */
function Opening({ organization_id }: { organization_id: string }) {
  const session = useSession();
  const { invite: t } = useTexts();
  useEffect(() => enter(session, organization_id, t.already), []);
  return null;
}

function enter(session: Session, organization_id: string, text: string): void {
  session.discardInvite();
  session.announce(text);
  location.hash = addressOf(OVERVIEW, organization_id);
}

/** Says to which organization and role an invitation leads, and lets the person accept it. */
function Offer({ token, preview }: { token: string; preview: InvitePreview }) {
  const session = useSession();
  const { invite: t, members, saving } = useTexts();
  const form = useForm();
  const { busy, failure } = form;
  const { organization, role, expires_at } = preview;
  const redeem = () =>
    form.send(
      {},
      () => sendToken(session, Member, "redeem", token),
      ({ organization_id }, isLeft) => {
        if (isLeft) session.announce(t.joined);
        else enter(session, organization_id, t.joined);
      },
    );
  return (
    <Form class="panel" busy={busy} onSubmit={redeem}>
      <h2>
        {t.to} <bdi>{organization.name}</bdi>
      </h2>
      <p>{role === null ? members.noRole : t.role(role)}</p>
      <p class="quiet">
        {t.until} <Time at={expires_at} />. {t.lead}
      </p>
      {failure !== null && <FailureNotice failure={failure} text={textOf(failure, t)} shown={["token"]} />}
      <div class="actions">
        <Button type="submit" look="main" aria-disabled={busy}>
          {busy ? saving : t.button}
        </Button>
        <Discard busy={busy} />
      </div>
    </Form>
  );
}

function textOf({ kind }: Failure, t: Texts["invite"]): string | undefined {
  if (kind === "missing") return t.missing;
  return kind === "conflict" ? t.overHelp : undefined;
}

function Discard({ busy = false }: { busy?: boolean }) {
  const session = useSession();
  const { invite: t } = useTexts();
  const discard = () => {
    session.discardInvite();
    session.announce(t.discarded);
    location.hash = addressOf(ORGANIZATIONS, null);
  };
  return (
    <Button aria-disabled={busy} onClick={() => !busy && discard()}>
      {t.discard}
    </Button>
  );
}
