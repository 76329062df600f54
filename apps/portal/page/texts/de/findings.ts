import type {
  DeclarationFlaw,
  FindingOf,
  FindingWords,
  NamedEntry,
  NamedRoot,
  StatementFlaw,
} from "@ostiary/lib/verification/words";

export const findings: FindingWords = {
  beyond_head: ({ last, head }) => `Die Kette reicht bis Platz ${last}, aber ihr Ende ist Platz ${head}.`,
  other_end: ({ entry }) => `Die Kette endet bei ${dativeOf(entry)} mit einem anderen Wert als ihr Ende.`,
  entry_changed: ({ entry, position }) =>
    `${nameOf(entry)} ist nicht das, was an Platz ${position} versiegelt wurde: Der Eintrag wurde geändert oder dorthin verschoben.`,
  place_taken: ({ entry, position }) =>
    `${nameOf(entry)} hat Platz ${position}, den schon ein anderer Eintrag hat.`,
  entries_missing: ({ from, to, side, entry }) =>
    `${from === to ? `Der Eintrag an Platz ${from} fehlt` : `Die Einträge an den Plätzen ${from} bis ${to} fehlen`} ${side === "before" ? "vor" : "nach"} ${dativeOf(entry)}: Ein Ereignis wurde entfernt.`,

  not_an_event: ({ line }) => `Zeile ${line} ist kein Ereignis mit Beweis.`,
  other_owner: ({ events_owner, proof_owner }) =>
    `Die Ereignisse gehören zu ${events_owner}, der Beweis gehört zu ${proof_owner}.`,
  event_without_place: ({ event_id }) =>
    `Das Ereignis ${event_id} hat keinen Platz in der Kette: Es wurde hinzugefügt.`,
  outcome_without_place: ({ event_id }) =>
    `Das Ergebnis des Ereignisses ${event_id} hat keinen Platz in der Kette: Es wurde hinzugefügt oder geändert.`,
  event_twice: ({ event_id }) => `Das Ereignis ${event_id} steht zweimal da.`,
  event_out_of_order: ({ event_id }) =>
    `Das Ereignis ${event_id} steht nicht dort, wo es nach seiner Kennung hingehört.`,
  event_of_other_log: ({ event_id, owner }) =>
    `Das Ereignis ${event_id} ist aus einem anderen Protokoll: dem von ${owner}.`,
  event_added_late: ({ event_id }) =>
    `Das Ereignis ${event_id} wurde nach Ereignissen geschrieben, die über eine Stunde neuer sind: Es wurde später hinzugefügt.`,

  declaration_unsound: ({ month, position, flaw }) =>
    `Die Löschung von ${month} an Platz ${position} ${DECLARATION_FLAWS[flaw]}.`,
  claim_not_month_start: ({ before }) =>
    `Ereignisse vor „${before}“ sollen gelöscht sein, aber das ist kein Monatsanfang in UTC.`,
  claim_after_checkpoint: ({ before }) =>
    `Ereignisse vor ${before} sollen gelöscht sein, aber das ist nach dem Prüfpunkt dieser Datei.`,
  claim_behind_newer_events: ({ from, to }) =>
    `${placesOf(from, to)} aus gelöschten Monaten stammen, aber davor stehen neuere Ereignisse.`,
  dropped_event_shown: ({ before }) =>
    `Ereignisse vor ${before} sollen gelöscht sein, aber einige stehen hier.`,
  statement_unsound: ({ id, position, why }) =>
    `Die Abrechnung ${id} an Platz ${position} ${statementFlaw(why)}.`,

  head_not_held: ({ checkpoint }) =>
    `${checkpoint === null ? "Kein Prüfpunkt enthält diese Kette" : `Der Prüfpunkt ${checkpoint} enthält diese Kette nicht`}: Sie wurde abgeschnitten und neu gebaut, oder sie gehört zu einem anderen Protokoll.`,
  checkpoint_not_signed: ({ checkpoint, problem }) =>
    `Der Prüfpunkt ${checkpoint} ${SIGNATURE_PROBLEMS[problem]}.`,
  two_checkpoints: ({ checkpoint }) =>
    `Es gibt zwei Prüfpunkte ${checkpoint}: Sie gehören zu zwei Protokollen, oder zu einem, das aus einer älteren Sicherung wiederhergestellt wurde und anders weiterging.`,
  first_names_previous: () => "Der Prüfpunkt 1 nennt einen davor.",
  previous_differs: ({ checkpoint, previous }) =>
    `Der Prüfpunkt ${checkpoint} folgt nicht auf den Prüfpunkt ${previous}, der hier steht.`,
  head_out_of_order: ({ checkpoint }) =>
    `Das Ende unter dem Prüfpunkt ${checkpoint} steht nicht in seiner Reihenfolge.`,
  head_went_back: ({ position, checkpoint, last_position, last_checkpoint }) =>
    `Das Protokoll endet unter dem Prüfpunkt ${checkpoint} an Platz ${position} und endete unter dem Prüfpunkt ${last_checkpoint} an Platz ${last_position}: Es wurde abgeschnitten.`,
  head_not_in_map: ({ position, checkpoint }) =>
    `Das Protokoll endet unter dem Prüfpunkt ${checkpoint} nicht an Platz ${position}, wie diese Datei es sagt.`,
  head_not_reached: ({ position, checkpoint }) =>
    `Das Protokoll hatte unter dem Prüfpunkt ${checkpoint} ${position} Einträge, und diese Datei reicht nicht so weit: Neuere Ereignisse wurden abgeschnitten.`,
  head_rewritten: ({ position, checkpoint }) =>
    `Das Protokoll hat an Platz ${position} unter dem Prüfpunkt ${checkpoint} eine andere Kette: Es wurde seitdem neu geschrieben.`,
  head_without_entry: ({ position, checkpoint }) =>
    `Das Protokoll hat keinen Eintrag an Platz ${position}, wo es unter dem Prüfpunkt ${checkpoint} endete.`,

  root_not_a_note: ({ root }) => `${ROOTS[root]} ist keine signierte Notiz.`,
  root_of_unknown_key: ({ root }) => `${ROOTS[root]} ist von keinem der bekannten Schlüssel signiert.`,
  root_with_wrong_signature: ({ root }) => `${ROOTS[root]} hat eine falsche Signatur.`,
  not_in_tree: ({ checkpoint, size }) =>
    `Der Prüfpunkt ${checkpoint} steht nicht im Baum der ${size} Prüfpunkte, dessen Wurzel das Protokoll signiert hat: Er gehört zu einer anderen Geschichte.`,
  tree_begins_otherwise: ({ size, asked }) =>
    `Der Baum der ${size} Prüfpunkte beginnt nicht mit dem Baum der ${asked}, den diese Datei nennt.`,
  two_trees: ({ size }) =>
    `Es gibt zwei Bäume mit ${size} Prüfpunkten: Das Protokoll wurde neu geschrieben, seit eine ihrer Wurzeln aufbewahrt wurde.`,
  cosigned_root_of_other_log: ({ cosigned_origin, origin }) =>
    `Die von Zeugen bestätigte Wurzel gehört zum Protokoll ${cosigned_origin}, diese Datei zu ${origin}.`,
  tree_not_as_cosigned: ({ size, cosigned }) =>
    `Der Baum der ${size} Prüfpunkte beginnt nicht mit dem Baum der ${cosigned}, den Zeugen bestätigt haben: Das Protokoll wurde zurückgesetzt, gegabelt oder neu geschrieben.`,
  cosignature_wrong: ({ witness }) =>
    `Die Bestätigung des Zeugen ${witness} ist falsch: Sein Schlüssel hat sie nicht gemacht.`,

  not_cosigned: () =>
    "Die Datei zeigt keine Wurzel, die Zeugen bestätigt haben: Das Protokoll hat keine Zeugen, noch keiner hat es bestätigt, oder der Betreiber hat sie weggelassen.",
  cosigned_root_older: ({ size, checkpoint }) =>
    `Die neueste Wurzel, die Zeugen bestätigt haben, hat ${size} Prüfpunkte, und diese Datei ist vom Prüfpunkt ${checkpoint}: Prüfen Sie das Protokoll erneut. Bleibt es so, sind die Zeugen nicht erreichbar oder lehnen das Protokoll ab.`,
  cosigned_by_few: ({ count, total, quorum }) =>
    `Zu wenige Zeugen haben das Protokoll bestätigt: ${count} von ${total}, und ${quorum} müssen es sein.`,
  witnesses_of_other_log: ({ origin, expected }) =>
    `Das ist das Protokoll ${origin}: Die Zeugen müssen das Protokoll ${expected} bestätigt haben.`,

  line_not_i_json: ({ line, violation }) => `Zeile ${line} ist kein I-JSON${iJsonText(violation)}.`,
  line_after_end: ({ line }) => `Zeile ${line} steht nach der Zeile, die den Beweis beendet.`,
  end_unreadable: ({ line }) => `Zeile ${line} soll den Beweis beenden und ist nicht lesbar.`,
  cut_off: () => "Die letzte Zeile, die den Beweis beendet, fehlt: Die Datei wurde abgeschnitten.",
  kept_export_rewritten: ({ position }) =>
    `Der aufbewahrte Export hat an Platz ${position} eine andere Kette: Was davor kommt, wurde seitdem neu geschrieben.`,
  kept_export_not_reached: ({ position }) =>
    `Der aufbewahrte Export hat ${position} Einträge, und diese Datei reicht nicht so weit.`,

  empty_log: () =>
    "Das Protokoll ist leer, und kein Prüfpunkt enthält ein leeres Protokoll: Ob Ereignisse abgeschnitten wurden, lässt sich nicht sagen. Ein aufbewahrter Export zeigt es.",
  kept_checkpoint_newer: ({ checkpoint, newest }) =>
    `Der aufbewahrte Prüfpunkt ${checkpoint} ist neuer als diese Datei, die ${newest === null ? "keinen" : `nur die bis ${newest}`} kennt: Die Datei entstand vor ihm, oder das Protokoll wurde aus einer älteren Sicherung wiederhergestellt.`,
  kept_checkpoint_unconnected: ({ checkpoint, newest, missing }) =>
    `Nichts führt hier vom aufbewahrten Prüfpunkt ${checkpoint} zum Prüfpunkt ${newest}: Der Prüfpunkt ${missing} fehlt. Ob die Geschichte von ${checkpoint} aus weiterging, lässt sich daher nicht sagen. Geben Sie eine Datei mit allen Prüfpunkten dazwischen an.`,
  no_tree: () =>
    "Diese Datei hat keinen Baum von Prüfpunkten, daher sagt die aufbewahrte Wurzel nichts über sie.",
  kept_root_newer: ({ size, newest }) =>
    `Die aufbewahrte Wurzel von ${size} Prüfpunkten ist neuer als diese Datei, deren Baum ${newest} hat: Die Datei entstand vor ihr, oder das Protokoll wurde aus einer älteren Sicherung wiederhergestellt.`,
  kept_root_unconnected: ({ size, newest }) =>
    `Nichts führt hier von der aufbewahrten Wurzel von ${size} Prüfpunkten zum Baum der ${newest}. Geben Sie einen aufbewahrten Prüfpunkt oder Export an.`,
  kept_export_of_other_log: ({ kept_owner, owner }) =>
    `Der aufbewahrte Export ist von ${kept_owner}, dieser ist von ${owner}: Sie lassen sich nicht vergleichen.`,
  kept_export_dropped: ({ position }) =>
    `Der aufbewahrte Export endet an Platz ${position}, der seitdem gelöscht wurde: Ob diese Datei von dort weitergeht, lässt sich nicht sagen. Bewahren Sie einen neueren Export auf.`,
  kept_export_newer: ({ position }) =>
    `Der aufbewahrte Export hat ${position} Einträge, die diese Datei nicht erreicht, und kennt neuere Prüfpunkte: Diese Datei entstand vor ihm, oder das Protokoll wurde aus einer älteren Sicherung wiederhergestellt.`,
  dropped_late: ({ from, to, month }) =>
    `${placesOf(from, to)} mit ${month} gelöscht worden sein, aber davor stehen neuere Ereignisse: Ob es späte Ergebnisse von Ereignissen dieses Monats waren, lässt sich nicht sagen.`,
  dropped_undeclared: ({ from, to, before }) =>
    `${placesOf(from, to)} aus gelöschten Monaten vor ${before} stammen, aber keine Erklärung in der Kette sagt es: Ob sie gelöscht oder entfernt wurden, lässt sich nicht sagen.`,

  cut: ({ checkpoint, old }) =>
    old
      ? `Ob neuere Ereignisse als die von Prüfpunkt ${checkpoint} abgeschnitten wurden: Er ist von einer älteren Version und hat nur die Protokolle, die mit ihm wuchsen. Nur ein späterer Export, den Sie aufbewahrt haben, zeigt das.`
      : `Ob Ereignisse nach Prüfpunkt ${checkpoint} abgeschnitten wurden: Nur ein späterer Export oder Prüfpunkt, den Sie aufbewahrt haben, zeigt das.`,
  other_history: () =>
    "Ob der Inhaber des Schlüssels für andere Leser eine andere Geschichte signiert hat: Vergleichen Sie die Prüfpunkte, die Sie und andere aufbewahrt haben.",
  tree: ({ checkpoint }) =>
    `Ob Prüfpunkt ${checkpoint} im Baum steht, dem Zeugen folgen: Die Datei kommt von einer Version ohne den Baum, oder der Betreiber ließ ihn weg.`,
  author: ({ months }) =>
    `Der Urheber dieses Protokolls: Kein Schlüssel hat es signiert, also kann jeder, der in die Datenbank schreiben darf, alles neu gemacht haben${months ? ", auch die Monate, die als gelöscht gelten" : ""}. Nur aufbewahrte Kopien zeigen das.`,
  days: ({ count, first, last }) =>
    `Das Ende des Protokolls ${count === 1 ? `am ${first}` : `an ${count} Tagen vom ${first} bis ${last}`}: Die Datei hat keinen Prüfpunkt des Tages, weil keiner signiert wurde, keiner alle Protokolle hatte oder der Betreiber ihn wegließ.`,
  dropped: ({ entries }) => `Der Inhalt der ${entries} gelöschten Einträge: Nur ihre Kettenwerte sind übrig.`,
};

const DECLARATION_FLAWS: Readonly<Record<DeclarationFlaw, string>> = {
  no_time: "sagt nicht, wann sie erklärt wurde",
  after_checkpoint: "ist von einer Zeit nach dem Prüfpunkt, der sie signiert",
  before_month_end: "wurde erklärt, bevor der Monat vorbei war",
  places_out_of_order: "nennt Plätze in falscher Reihenfolge",
  places_after_it: "nennt Plätze, die nach ihr kommen",
};

const SIGNATURE_PROBLEMS: Readonly<Record<FindingOf<"checkpoint_not_signed">["problem"], string>> = {
  unsigned: "ist nicht signiert",
  unknown_key: "ist mit einem Schlüssel signiert, der nicht bekannt ist",
  wrong_signature: "hat eine Signatur, die nicht von seinem Schlüssel ist",
  other_content: "unterscheidet sich von dem, was signiert wurde",
};

const ROOTS: Readonly<Record<NamedRoot, string>> = {
  own: "Die Wurzel des Baums der Prüfpunkte",
  kept: "Die aufbewahrte Wurzel",
  kept_export: "Die Wurzel im aufbewahrten Export",
  cosigned: "Die von Zeugen bestätigte Wurzel",
};

function statementFlaw(why: StatementFlaw): string {
  switch (why.flaw) {
    case "out_of_order":
      return "steht nicht in der Reihenfolge der Kette";
    case "month":
      return "umfasst nicht ihren Monat";
    case "no_time":
      return "sagt nicht, wann sie geschrieben wurde";
    case "too_early":
      return "wurde geschrieben, bevor ihr Monat vorbei war";
    case "after_checkpoint":
      return "ist von einer Zeit nach dem Prüfpunkt, der sie signiert";
    case "not_of_organization":
      return "steht in einem Protokoll, das zu keiner Organisation gehört";
    case "number":
      return `ist nicht die Abrechnung ${why.expected}, die dort hingehört`;
    case "corrects":
      return "nennt nicht die Abrechnung davor";
    case "sum":
      return `hat ${why.value} als „${why.name}“, und das ist nicht die Summe ihrer Dienste`;
    case "repeated_names":
      return "nennt einen Dienst oder eine Regel zweimal oder in falscher Reihenfolge";
    case "refusals":
      return "hat Ablehnungen, die nicht die Summe ihrer Gründe sind";
  }
}

function iJsonText(violation: FindingOf<"line_not_i_json">["violation"]): string {
  if (violation === null) return "";
  return violation.rule === "repeated_name"
    ? `: Ein Objekt hat zwei Mitglieder mit dem Namen ${violation.shown}`
    : `: Eine Gleitkommazahl behält die Zahl ${violation.shown} nicht`;
}

/** Returns an entry as the subject of a sentence. */
function nameOf(entry: NamedEntry): string {
  switch (entry.entry) {
    case "intent":
      return `Die Absicht des Ereignisses ${entry.event_id}`;
    case "outcome":
      return `Das Ergebnis des Ereignisses ${entry.event_id}`;
    case "retention":
      return `Die Löschung von ${entry.month}`;
    case "statement":
      return `Die Abrechnung ${entry.id}`;
    case "place":
      return `Platz ${entry.position}`;
    case "start":
      return "Der Anfang";
  }
}

/** Returns an entry in the dative, as after "vor", "nach" and "bei". */
function dativeOf(entry: NamedEntry): string {
  switch (entry.entry) {
    case "intent":
      return `der Absicht des Ereignisses ${entry.event_id}`;
    case "outcome":
      return `dem Ergebnis des Ereignisses ${entry.event_id}`;
    case "retention":
      return `der Löschung von ${entry.month}`;
    case "statement":
      return `der Abrechnung ${entry.id}`;
    case "place":
      return `Platz ${entry.position}`;
    case "start":
      return "dem Anfang";
  }
}

function placesOf(from: number, to: number): string {
  return from === to
    ? `Der Eintrag an Platz ${from} soll`
    : `Die Einträge an den Plätzen ${from} bis ${to} sollen`;
}
