import { Member } from "@ostiary/lib/contracts/identity-api";
import { Button, type Failure, FailureNotice, Form, TextField } from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { addressOf, ORGANIZATIONS, OVERVIEW } from "../address.ts";
import { type Gateway, pathTo } from "../gateway.ts";
import { useSession } from "../page-session.ts";
import { problemOf, useForm } from "../parts/use-problems.ts";
import { type Texts, useTexts } from "../texts/texts.ts";

/** The maximum length of a pasted link. Links that the portal makes are much shorter. */
const LINK_LENGTH_MAX = 2_048;

/** Redeems an invitation from the opened link or from a pasted link. */
export function InviteView() {
  const session = useSession();
  const { invite: texts } = useTexts();
  const opened = session.invite.value;
  const [pasted, setPasted] = useState("");
  const form = useForm();
  const { busy, failure } = form;
  const redeem = () =>
    form.send(
      { token: opened === null ? problemOf(pasted, { lengthMax: LINK_LENGTH_MAX }) : null },
      () => redeemInvite(session.gateway, opened ?? tokenIn(pasted)),
      ({ organization_id }) => {
        session.discardInvite();
        session.announce(texts.joined);
        location.hash = addressOf(OVERVIEW, organization_id);
      },
    );
  return (
    <Form class="panel" busy={busy} problems={form} onSubmit={redeem}>
      <p class="quiet">{texts.lead}</p>
      {opened === null && (
        <TextField
          label={texts.paste}
          value={pasted}
          onInput={setPasted}
          help={texts.pasteHelp}
          problem={form.of("token")}
          required
        />
      )}
      {failure !== null && (
        <FailureNotice failure={failure} text={textOf(failure, texts)} shown={["token"]} />
      )}
      <div class="actions">
        {opened !== null && <DiscardButton busy={busy} />}
        <Button type="submit" look="main" aria-disabled={busy}>
          {busy ? texts.joining : texts.button}
        </Button>
      </div>
    </Form>
  );
}

function DiscardButton({ busy }: { busy: boolean }) {
  const session = useSession();
  const { invite: texts } = useTexts();
  const discard = () => {
    session.discardInvite();
    session.announce(texts.discarded);
    location.hash = addressOf(ORGANIZATIONS, null);
  };
  return (
    <Button aria-disabled={busy} onClick={() => !busy && discard()}>
      {texts.discard}
    </Button>
  );
}

function redeemInvite(gateway: Gateway, token: string | null) {
  const path = pathTo("user", "invites", "redeem");
  return gateway.send(Member, path, { as: "person", method: "POST", body: { token } });
}

function textOf({ kind }: Failure, texts: Texts["invite"]): string | undefined {
  if (kind === "missing") return texts.missing;
  return kind === "conflict" ? texts.over : undefined;
}

/** Returns the token from a pasted text: either a link with the token as its fragment, or only the token. */
function tokenIn(text: string): string {
  const trimmed = text.trim();
  const fragment = URL.parse(trimmed)?.hash.slice(1) ?? "";
  return fragment === "" ? trimmed : fragment;
}
