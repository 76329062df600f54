import type {
  DeclarationFlaw,
  FindingOf,
  FindingWords,
  NamedEntry,
  NamedRoot,
} from "@ostiary/lib/verification/findings";

/** The German sentence for each finding. */
export const findings: FindingWords = {
  beyond_head: ({ last, head }) =>
    `Die Kette reicht bis Position ${last}, laut Beweis endet sie aber an Position ${head}.`,
  other_end: ({ entry }) =>
    `Die Kette endet mit ${dativeOf(entry)}, aber der Hash dieses Eintrags weicht vom Hash ab, den der Beweis für das Ende nennt.`,
  entry_changed: ({ entry, position }) =>
    `${nameOf(entry)} stimmt nicht mit dem überein, was an Position ${position} versiegelt wurde: Der Eintrag wurde geändert oder an diese Position verschoben.`,
  place_taken: ({ entry, position }) =>
    `${nameOf(entry)} steht an Position ${position}, an der auch ein anderer Eintrag steht.`,
  entries_missing: ({ from, to, side, entry }) =>
    `${from === to ? `Der Eintrag an Position ${from} fehlt` : `Die Einträge an den Positionen ${from} bis ${to} fehlen`} ${side === "before" ? "vor" : "nach"} ${dativeOf(entry)}: Ein Ereignis wurde entfernt.`,

  not_an_event: ({ line }) => `Zeile ${line} ist kein Ereignis mit Beweis.`,
  other_owner: ({ eventsOwner, proofOwner }) =>
    `Die Ereignisse gehören zu ${eventsOwner}, der Beweis aber zu ${proofOwner}.`,
  event_without_place: ({ event_id }) =>
    `Das Ereignis ${event_id} hat keine Position in der Kette: Es wurde hinzugefügt.`,
  outcome_without_place: ({ event_id }) =>
    `Das Ergebnis des Ereignisses ${event_id} hat keine Position in der Kette: Es wurde hinzugefügt oder geändert.`,
  event_twice: ({ event_id }) => `Das Ereignis ${event_id} steht zweimal in der Datei.`,
  event_out_of_order: ({ event_id }) =>
    `Das Ereignis ${event_id} steht nicht in der richtigen Reihenfolge: Ereignisse sind nach ihrer Kennung sortiert.`,
  event_of_other_log: ({ event_id, owner }) =>
    `Das Ereignis ${event_id} gehört zu einem anderen Protokoll, nämlich dem von ${owner}.`,
  event_added_late: ({ event_id }) =>
    `Das Ereignis ${event_id} ist über eine Stunde älter als ein Ereignis, das in der Kette vor ihm steht: Es wurde nachträglich hinzugefügt.`,

  declaration_unsound: ({ month, position, flaw }) =>
    `Die Löscherklärung für ${month} an Position ${position} ${DECLARATION_FLAWS[flaw]}.`,
  claim_not_month_start: ({ before }) =>
    `Die Datei erklärt Ereignisse vor „${before}“ für gelöscht, aber das ist kein Monatsanfang in UTC.`,
  claim_after_checkpoint: ({ before }) =>
    `Die Datei erklärt Ereignisse vor ${before} für gelöscht, aber dieser Zeitpunkt liegt nach ihrem Prüfpunkt.`,
  claim_behind_newer_events: ({ from, to }) =>
    `${claimOf(from, to)} aus gelöschten Monaten stammen, aber neuere Ereignisse haben niedrigere Positionen.`,
  dropped_event_shown: ({ before }) =>
    `Die Datei erklärt Ereignisse vor ${before} für gelöscht, enthält aber einige davon.`,

  head_not_held: ({ checkpoint }) =>
    `${checkpoint === null ? "Kein Prüfpunkt enthält das Ende dieser Kette" : `Der Prüfpunkt ${checkpoint} enthält das Ende dieser Kette nicht`}: Die Kette wurde neu aufgebaut oder gehört zu einem anderen Protokoll.`,
  checkpoint_not_signed: ({ checkpoint, problem }) =>
    `Der Prüfpunkt ${checkpoint} ${SIGNATURE_PROBLEMS[problem]}.`,
  two_checkpoints: ({ checkpoint }) =>
    `Zwei verschiedene Prüfpunkte haben die Nummer ${checkpoint}: Sie gehören zu zwei Protokollen oder zu einem Protokoll, das aus einer älteren Sicherung wiederhergestellt wurde.`,
  first_names_previous: () =>
    "Der Prüfpunkt 1 nennt einen vorherigen Prüfpunkt, aber der erste Prüfpunkt hat keinen.",
  previous_differs: ({ checkpoint, previous }) =>
    `Der Prüfpunkt ${checkpoint} folgt nicht auf den Prüfpunkt ${previous} dieser Datei.`,
  head_out_of_order: ({ checkpoint }) =>
    `Das Ende des Protokolls beim Prüfpunkt ${checkpoint} steht nicht in der richtigen Reihenfolge.`,
  head_went_back: ({ position, checkpoint, lastPosition, lastCheckpoint }) =>
    `Das Protokoll endete beim Prüfpunkt ${lastCheckpoint} an Position ${lastPosition}, beim Prüfpunkt ${checkpoint} aber an Position ${position}: Es wurde gekürzt.`,
  head_not_in_map: ({ position, checkpoint }) =>
    `Laut dieser Datei endete das Protokoll beim Prüfpunkt ${checkpoint} an Position ${position}, aber der Prüfpunkt beweist das nicht.`,
  head_not_reached: ({ position, checkpoint }) =>
    `Das Protokoll hatte beim Prüfpunkt ${checkpoint} ${position} Einträge, aber diese Datei reicht nicht so weit: Neuere Ereignisse wurden abgeschnitten.`,
  head_rewritten: ({ position, checkpoint }) =>
    `Der Hash der Kette an Position ${position} weicht vom Hash im Prüfpunkt ${checkpoint} ab: Das Protokoll wurde seit diesem Prüfpunkt neu geschrieben.`,
  head_without_entry: ({ position, checkpoint }) =>
    `Das Protokoll hat keinen Eintrag an Position ${position}, wo es beim Prüfpunkt ${checkpoint} endete.`,

  root_not_a_note: ({ root }) => `${ROOTS[root]} ist keine signierte Notiz.`,
  root_of_unknown_key: ({ root }) => `${ROOTS[root]} ist mit keinem der bekannten Schlüssel signiert.`,
  root_with_wrong_signature: ({ root }) => `${ROOTS[root]} hat eine falsche Signatur.`,
  not_in_tree: ({ checkpoint, size }) =>
    `Der Prüfpunkt ${checkpoint} steht nicht im Baum der ${size} Prüfpunkte, dessen Wurzel das Protokoll signiert hat: Der Prüfpunkt gehört zu einem anderen Verlauf.`,
  tree_begins_otherwise: ({ size, asked }) =>
    `Der Baum der ${size} Prüfpunkte beginnt nicht mit dem Baum der ${asked} Prüfpunkte in dieser Datei: Das Protokoll wurde neu geschrieben.`,
  two_trees: ({ size }) =>
    `Zwei verschiedene Bäume haben ${size} Prüfpunkte: Das Protokoll wurde neu geschrieben, nachdem eine der Wurzeln aufbewahrt worden war.`,
  cosigned_root_of_other_log: ({ cosignedOrigin, origin }) =>
    `Die von Zeugen bestätigte Wurzel gehört zum Protokoll ${cosignedOrigin}, diese Datei aber zu ${origin}.`,
  tree_not_as_cosigned: ({ size, cosigned }) =>
    `Der Baum der ${size} Prüfpunkte beginnt nicht mit dem Baum der ${cosigned} Prüfpunkte, den Zeugen bestätigt haben: Das Protokoll wurde zurückgesetzt, gegabelt oder neu geschrieben.`,
  cosignature_wrong: ({ witness }) =>
    `Die Bestätigung des Zeugen ${witness} ist falsch: Sie wurde nicht mit dem Schlüssel des Zeugen erstellt.`,

  not_cosigned: () =>
    "Die Datei enthält keine Wurzel, die Zeugen bestätigt haben: Das Protokoll hat keine Zeugen, noch kein Zeuge hat es bestätigt, oder der Betreiber des Protokolls hat die Wurzel weggelassen.",
  cosigned_root_older: ({ size, checkpoint }) =>
    `Die neueste Wurzel, die Zeugen bestätigt haben, umfasst ${size} Prüfpunkte, aber diese Datei endet mit dem Prüfpunkt ${checkpoint}: Erstellen Sie den Export erneut. Wiederholt sich das, antworten die Zeugen nicht oder lehnen das Protokoll ab.`,
  cosigned_by_few: ({ count, total, quorum }) =>
    `Zu wenige Zeugen haben das Protokoll bestätigt: ${count} von ${total}; erforderlich sind mindestens ${quorum}.`,
  witnesses_of_other_log: ({ origin, expected }) =>
    `Der Export gehört zum Protokoll ${origin}, aber die Zeugen müssen das Protokoll ${expected} bestätigt haben.`,

  line_not_i_json: ({ line, violation }) => `Zeile ${line} ist kein I-JSON${iJsonText(violation)}.`,
  line_after_end: ({ line }) => `Zeile ${line} steht nach der Zeile, die den Beweis beendet.`,
  end_unreadable: ({ line }) => `Zeile ${line} muss den Beweis beenden, ist aber nicht lesbar.`,
  cut_off: () => "Die letzte Zeile, die den Beweis beendet, fehlt: Die Datei wurde abgeschnitten.",
  kept_export_rewritten: ({ position }) =>
    `Der Hash der Kette an Position ${position} weicht vom Hash im aufbewahrten Export ab: Das Protokoll wurde seit diesem Export neu geschrieben.`,
  kept_export_not_reached: ({ position }) =>
    `Der aufbewahrte Export hat ${position} Einträge, diese Datei hat weniger: Neuere Einträge wurden abgeschnitten.`,

  empty_log: () =>
    "Das Protokoll ist leer, und kein Prüfpunkt deckt ein leeres Protokoll ab. Die Datei zeigt nicht, ob Ereignisse abgeschnitten wurden; das zeigt nur ein Export, den Sie aufbewahrt haben.",
  kept_checkpoint_newer: ({ checkpoint, newest }) =>
    `Der aufbewahrte Prüfpunkt ${checkpoint} ist neuer als diese Datei, ${newest === null ? "die keinen Prüfpunkt hat" : `deren neuester Prüfpunkt ${newest} ist`}. Entweder ist die Datei älter, oder das Protokoll wurde aus einer älteren Sicherung wiederhergestellt.`,
  kept_checkpoint_unconnected: ({ checkpoint, newest, missing }) =>
    `Die Dateien zeigen nicht, ob der Prüfpunkt ${newest} den aufbewahrten Prüfpunkt ${checkpoint} fortsetzt: Der Prüfpunkt ${missing} fehlt. Wählen Sie eine Datei mit allen Prüfpunkten dazwischen.`,
  no_tree: () =>
    "Diese Datei hat keinen Baum von Prüfpunkten und lässt sich daher nicht mit der aufbewahrten Wurzel vergleichen. Erstellen Sie einen neuen Export.",
  kept_root_newer: ({ size, newest }) =>
    `Die aufbewahrte Wurzel von ${size} Prüfpunkten ist neuer als diese Datei, deren Baum ${newest} hat. Entweder ist die Datei älter, oder das Protokoll wurde aus einer älteren Sicherung wiederhergestellt.`,
  kept_root_unconnected: ({ size, newest }) =>
    `Die Dateien zeigen nicht, ob der Baum der ${newest} Prüfpunkte die aufbewahrte Wurzel von ${size} Prüfpunkten fortsetzt. Wählen Sie einen Prüfpunkt oder Export, den Sie aufbewahrt haben.`,
  kept_export_of_other_log: ({ keptOwner, owner }) =>
    `Der aufbewahrte Export gehört zu ${keptOwner}, diese Datei aber zu ${owner}: Sie lassen sich nicht vergleichen.`,
  kept_export_dropped: ({ position }) =>
    `Der aufbewahrte Export endet an Position ${position}, die seitdem gelöscht wurde. Die Dateien zeigen nicht, ob diese Datei den aufbewahrten Export fortsetzt. Bewahren Sie einen neueren Export auf.`,
  kept_export_newer: ({ position }) =>
    `Der aufbewahrte Export hat ${position} Einträge und neuere Prüfpunkte als diese Datei. Entweder ist diese Datei älter, oder das Protokoll wurde aus einer älteren Sicherung wiederhergestellt.`,
  dropped_late: ({ from, to, month }) =>
    `${claimOf(from, to)} zusammen mit dem Monat ${month} gelöscht worden sein, aber neuere Ereignisse haben niedrigere Positionen. Die Datei zeigt nicht, ob die gelöschten Einträge späte Ergebnisse von Ereignissen dieses Monats waren.`,
  dropped_undeclared: ({ from, to, before }) =>
    `${claimOf(from, to)} aus gelöschten Monaten vor ${before} stammen, aber die Kette enthält dazu keine Löscherklärung. Die Datei zeigt nicht, ob hier planmäßig gelöscht oder etwas entfernt wurde.`,

  cut: ({ checkpoint, old }) =>
    old
      ? `Ob Ereignisse nach Prüfpunkt ${checkpoint} abgeschnitten wurden: Eine ältere Version von Ostiary hat diesen Prüfpunkt erstellt, daher deckt er nur Protokolle ab, die gewachsen sind. Das zeigt nur ein späterer Export, den Sie aufbewahrt haben.`
      : `Ob Ereignisse nach Prüfpunkt ${checkpoint} abgeschnitten wurden: Das zeigt nur ein späterer Export oder Prüfpunkt, den Sie aufbewahrt haben.`,
  other_history: () =>
    "Ob der Inhaber des Schlüssels für andere Leser einen anderen Verlauf signiert hat: Vergleichen Sie die Prüfpunkte, die Sie und andere aufbewahrt haben.",
  tree: ({ checkpoint }) =>
    `Ob der Prüfpunkt ${checkpoint} im Baum steht, dem die Zeugen folgen: Die Datei stammt von einer älteren Version von Ostiary, die noch keinen Baum schrieb, oder der Betreiber des Protokolls hat den Baum weggelassen.`,
  author: ({ months }) =>
    `Der Urheber dieses Protokolls: Kein Schlüssel hat es signiert, also kann jeder, der in die Datenbank schreiben darf, alles neu geschrieben haben${months ? ", auch die Monate, die das Protokoll für gelöscht erklärt" : ""}. Nur aufbewahrte Kopien zeigen das.`,
  days: ({ count, first, last }) =>
    `Das Ende des Protokolls ${count === 1 ? `am ${first}` : `an ${count} Tagen vom ${first} bis ${last}`}: Die Datei hat keinen Prüfpunkt des Tages, weil keiner signiert wurde, keiner alle Protokolle abdeckte oder der Betreiber des Protokolls ihn weggelassen hat.`,
  dropped: ({ entries }) => `Der Inhalt der ${entries} gelöschten Einträge: Nur ihre Hashes sind erhalten.`,
};

const DECLARATION_FLAWS: Readonly<Record<DeclarationFlaw, string>> = {
  no_time: "hat keinen gültigen Zeitpunkt",
  after_checkpoint: "ist jünger als der Prüfpunkt, der sie abdeckt",
  before_month_end: "wurde abgegeben, bevor der Monat zu Ende war",
  places_out_of_order: "nennt Positionen in falscher Reihenfolge",
  places_after_it: "nennt Positionen, die hinter ihrer eigenen liegen",
};

const SIGNATURE_PROBLEMS: Readonly<Record<FindingOf<"checkpoint_not_signed">["problem"], string>> = {
  unsigned: "ist nicht signiert",
  unknown_key: "ist mit keinem der bekannten Schlüssel signiert",
  wrong_signature: "hat eine falsche Signatur",
  other_content: "weicht vom signierten Inhalt ab",
};

const ROOTS: Readonly<Record<NamedRoot, string>> = {
  own: "Die Wurzel des Baums der Prüfpunkte",
  kept: "Die aufbewahrte Wurzel",
  kept_export: "Die Wurzel im aufbewahrten Export",
  cosigned: "Die von Zeugen bestätigte Wurzel",
};

function iJsonText(violation: FindingOf<"line_not_i_json">["violation"]): string {
  if (violation === null) return "";
  return violation.rule === "repeated_name"
    ? `: Ein Objekt enthält den Namen ${violation.shown} zweimal`
    : `: Eine Gleitkommazahl kann die Zahl ${violation.shown} nicht exakt darstellen`;
}

/** The definite articles by gender, in the nominative at the start of a sentence, and in the dative. */
const ARTICLES = { f: ["Die", "der"], n: ["Das", "dem"], m: ["Der", "dem"] } as const;

/** Returns the gender and the name of an entry, without an article. */
function nounOf(entry: NamedEntry): [gender: keyof typeof ARTICLES, name: string] {
  switch (entry.entry) {
    case "intent":
      return ["f", `Ankündigung des Ereignisses ${entry.event_id}`];
    case "outcome":
      return ["n", `Ergebnis des Ereignisses ${entry.event_id}`];
    case "retention":
      return ["f", `Löscherklärung für ${entry.month}`];
    case "place":
      return ["m", `Eintrag an Position ${entry.position}`];
    case "start":
      return ["m", "Anfang der Kette"];
  }
}

/** Returns the name of an entry in the nominative, for the start of a sentence. */
function nameOf(entry: NamedEntry): string {
  const [gender, name] = nounOf(entry);
  return `${ARTICLES[gender][0]} ${name}`;
}

/** Returns the name of an entry in the dative, as after "vor", "nach" and "mit". */
function dativeOf(entry: NamedEntry): string {
  const [gender, name] = nounOf(entry);
  return `${ARTICLES[gender][1]} ${name}`;
}

/** Returns the start of a sentence about what the file claims: "Der Eintrag an Position 3 soll". */
function claimOf(from: number, to: number): string {
  return from === to
    ? `Der Eintrag an Position ${from} soll`
    : `Die Einträge an den Positionen ${from} bis ${to} sollen`;
}
