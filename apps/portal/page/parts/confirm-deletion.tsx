import { useWrite } from "@ostiary/lib/page";
import { Type } from "@sinclair/typebox";
import type { ComponentChildren } from "preact";
import type { Caller } from "../gateway.ts";
import { useSession } from "../page-session.ts";
import { Confirm } from "./confirm.tsx";

interface ConfirmDeletionProps {
  title: string;
  action: string;
  as: Caller;
  path: string;
  /** The text that a screen reader announces after the deletion. */
  done: string;
  onClose: () => void;
  /** Called when the data may have changed. */
  onChange: () => unknown;
  /** Called after the deletion. By default, calls `onChange`. */
  onDeleted?: () => void;
  children: ComponentChildren;
}

/** Asks the person to confirm a deletion, and deletes the resource at `path`. */
export function ConfirmDeletion({ as, path, done, onDeleted, ...dialog }: ConfirmDeletionProps) {
  const session = useSession();
  const writing = useWrite();
  const remove = () =>
    writing.write(
      () => session.gateway.send(Type.Null(), path, { as, method: "DELETE" }),
      () => {
        session.announce(done);
        dialog.onClose();
        (onDeleted ?? dialog.onChange)();
      },
    );
  return <Confirm {...dialog} danger writing={writing} onConfirm={() => void remove()} />;
}
