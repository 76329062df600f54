/**
 * A fact that no export can show.
 * - `cut`: events after the checkpoint were cut off; an `old` checkpoint has only the logs that grew with it
 * - `other_history`: the holder of the key signed another history for other readers
 * - `tree`: the checkpoint is in the tree that witnesses follow
 * - `author`: no key signed the log; `months` says whether it declares dropped months
 * - `days`: the end of the log on days without a checkpoint
 * - `dropped`: the content of dropped entries
 */
export type NotShown =
  | { code: "cut"; checkpoint: number; old: boolean }
  | { code: "other_history" }
  | { code: "tree"; checkpoint: number }
  | { code: "author"; months: boolean }
  | { code: "days"; count: number; first: string; last: string }
  | { code: "dropped"; entries: number };

/** Returns a fact as an English sentence. */
export function sentenceOf(fact: NotShown): string {
  switch (fact.code) {
    case "cut":
      return fact.old
        ? `Whether newer events than those of checkpoint ${fact.checkpoint} were cut off: it is of an older version, and has only the logs that grew with it. Only a later export that you kept shows that.`
        : `Whether events after checkpoint ${fact.checkpoint} were cut off: only a later export or checkpoint that you kept shows that.`;
    case "other_history":
      return "Whether the holder of the key signed another history for other readers: compare the checkpoints that you and others kept.";
    case "tree":
      return `Whether checkpoint ${fact.checkpoint} is in the tree that witnesses follow: the file was made by a version without the tree, or the keeper left it out.`;
    case "author":
      return `The author of this log: no key signed it, so anyone who can write the database can have made all of it anew${fact.months ? ", months that it says were dropped included" : ""}. Only kept copies show that.`;
    case "days": {
      const { count, first, last } = fact;
      const which = count === 1 ? `on ${first}` : `on ${count} days from ${first} to ${last}`;
      return `The end of the log ${which}: the file has no checkpoint of the day, because none was signed, none had all logs, or the keeper left it out.`;
    }
    case "dropped":
      return `The content of the ${fact.entries} dropped entries: only their chain values are left.`;
  }
}
