import {
  type GivenNote,
  LINK_HEADER,
  LINK_LENGTH_MAX,
  type Propagation,
  REASON_HEADER,
  REASON_LENGTH_MAX,
} from "@ostiary/lib/contracts/registry-api";
import {
  ConfirmDialog,
  type Done,
  type Failure,
  type FailureKind,
  FailureNotice,
  TextField,
  usePageTexts,
  useWrite,
} from "@ostiary/lib/page";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { fragmentOf } from "../console-address.ts";
import { useSession } from "../console-session.ts";
import type { Write } from "../registry/calls.ts";
import { isStale, type Registry } from "../registry/console-registry.ts";
import { counted } from "./shown.tsx";

/** The headers whose problems stand at their fields. */
const NOTE_HEADERS: readonly string[] = [REASON_HEADER, LINK_HEADER];

interface WriteDialogProps<Result> {
  title: string;
  /** The label of the button that writes nothing. */
  leave: string;
  /** The label of the button that writes. */
  confirm: string;
  isDangerous?: boolean;
  isReady?: boolean;
  /** The title of the notice about a write that may have worked, although no response says so. */
  mayHave: string;
  /** The note with its setter, for a note that outlives the dialog. */
  note?: readonly [note: GivenNote, onNote: (note: GivenNote) => void];
  write: (registry: Registry, options: Write) => Promise<Result>;
  onDone: Done<Result>;
  /** Replaces the state that the dialog shows, which may be old or which the write may have changed. */
  onReload: () => void;
  reloadLabel?: string;
  onClose: () => void;
  children: ComponentChildren;
  /** The last element of the form, such as the field for the name of a service to delete. */
  last?: ComponentChildren;
}

/** Asks the operator to confirm a write, to give a reason, and to choose whether to wait for gateways. */
export function WriteDialog<Result>({ isReady = true, ...props }: WriteDialogProps<Result>) {
  const session = useSession();
  const { explain } = usePageTexts();
  const { busy, failure, write } = useWrite((lost) =>
    session.announce(
      lost.outcomeUnknown
        ? `${props.mayHave}. Check the current state.`
        : `${props.title} This failed: ${explain(lost).title}.`,
    ),
  );
  const ownNote = useState<GivenNote>({});
  const [note, setNote] = props.note ?? ownNote;
  const [wait, setWait] = useState(true);
  const problemOf = (header: string) => failure?.fields.find(({ path }) => path === header)?.message ?? null;
  const mayHaveWorked = failure?.outcomeUnknown === true;
  const isOld = failure !== null && (mayHaveWorked || isStale(failure));
  const confirm = () =>
    write(() => session.run((registry) => props.write(registry, { wait, note })), props.onDone);
  return (
    <ConfirmDialog
      title={props.title}
      busy={busy}
      cancel={props.leave}
      action={props.confirm}
      look={props.isDangerous ? "danger-main" : "main"}
      off={busy || !isReady || isOld}
      onConfirm={confirm}
      onClose={props.onClose}
    >
      {props.children}
      {failure !== null && (
        <FailureNotice
          failure={failure}
          shown={NOTE_HEADERS}
          title={mayHaveWorked ? props.mayHave : undefined}
          onRetry={isOld || mayBeOld(failure) ? props.onReload : undefined}
          retryLabel={props.reloadLabel ?? "Load the current state"}
        />
      )}
      <TextField
        label="Reason"
        spellcheck
        maxLength={REASON_LENGTH_MAX}
        value={note.reason ?? ""}
        problem={problemOf(REASON_HEADER)}
        onInput={(reason) => setNote({ ...note, reason })}
      />
      <TextField
        label="Link"
        help="The history of the service shows the reason and the link, for example to a ticket. Both are optional."
        inputMode="url"
        maxLength={LINK_LENGTH_MAX}
        placeholder="https://"
        value={note.link ?? ""}
        problem={problemOf(LINK_HEADER)}
        onInput={(link) => setNote({ ...note, link })}
      />
      <label class="choice">
        <input type="checkbox" checked={wait} onChange={(event) => setWait(event.currentTarget.checked)} />
        Wait until every gateway has loaded the change, at most 10 s
      </label>
      {props.last}
    </ConfirmDialog>
  );
}

const KINDS_OF_OLD_STATE: ReadonlySet<FailureKind> = new Set([
  "conflict",
  "missing",
  "invalid",
  "unexpected",
]);

/** Returns whether a write may have been refused because of a change that the dialog does not show. */
function mayBeOld({ kind, fields }: Failure): boolean {
  const isAboutNote = fields.length > 0 && fields.every(({ path }) => NOTE_HEADERS.includes(path));
  return KINDS_OF_OLD_STATE.has(kind) && !isAboutNote;
}

export function Propagated({ propagation }: { propagation: Propagation | undefined }) {
  if (propagation === undefined) return <p>The gateways will load the change shortly.</p>;
  const { gateways, reached, waited_ms, projected } = propagation;
  const after = `after ${(waited_ms / 1_000).toFixed(1)} s`;
  if (projected && gateways === 0)
    return <p>No gateway is running. The next gateway to start will serve the change.</p>;
  if (projected && reached === gateways) {
    const all = gateways === 1 ? "The only running gateway serves" : `All ${gateways} gateways serve`;
    return (
      <p>
        {all} the change, {after}.
      </p>
    );
  }
  return (
    <p>
      The change is recorded, but {after}{" "}
      {projected
        ? `only ${reached} of ${counted(gateways, "gateway")} serve the change.`
        : "it is not in the route store. Gateways load changes from the route store."}{" "}
      <a href={fragmentOf({ name: "gateways" })}>Look at the gateways</a>.
    </p>
  );
}
