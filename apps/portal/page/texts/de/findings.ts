import type { Finding, FindingCode, FindingPlace } from "@ostiary/lib/verification/findings";

/** The German sentence for each finding. Its place, and what was expected and found, stand around it. */
const GERMAN: Readonly<Record<FindingCode, string>> = {
  line_unreadable: "Diese Zeile ist nicht so, wie das Format sie hier erlaubt.",
  cut_off: "Die letzte Zeile, die den Beweis enthält, fehlt: Die Datei wurde abgeschnitten.",
  event_inconsistent: "Das Ereignis hat ein Ergebnis ohne versiegelten Ausgang, oder umgekehrt.",
  event_out_of_order:
    "Das Ereignis steht an falscher Stelle oder zweimal in der Datei: Die Ids müssen von Zeile zu Zeile fallen.",
  event_late:
    "Das Ereignis ist über eine Stunde älter als ein früheres der Kette: Es wurde nachträglich hinzugefügt.",
  event_time_wrong:
    "Das Ereignis nennt eine Zeit, die über einen Tag von der Zeit in seiner Id abweicht, zu der es geschrieben wurde.",
  other_owner: "Das ist das Protokoll eines anderen Besitzers.",
  entry_changed:
    "Der Eintrag ist nicht das, was versiegelt wurde: Er wurde geändert oder an diese Position verschoben.",
  position_taken: "Zwei Einträge haben diese Position.",
  entries_missing: "Einträge fehlen: Ereignisse wurden entfernt.",
  head_differs: "Die Kette endet nicht dort, wo sie versiegelt wurde.",
  declaration_wrong: "Eine Erklärung in der Kette ist so nicht möglich.",
  drop_not_proved:
    "Von diesen fehlenden Einträgen ist nicht bewiesen, dass sie zu einem für gelöscht erklärten Monat gehören.",
  head_not_in_map:
    "Die Karte dieses Blatts enthält dieses Ende nicht: Die Kette wurde neu aufgebaut, gekürzt oder ist eine andere.",
  leaf_not_in_tree: "Der signierte Baum enthält dieses Blatt nicht, oder nicht an dieser Stelle.",
  heads_out_of_order:
    "Die Enden unter früheren Blättern stehen in falscher Reihenfolge, oder das Protokoll ging dazwischen zurück.",
  earlier_head_wrong: "Das Protokoll wurde neu geschrieben: Ein früheres Ende liegt nicht auf dieser Kette.",
  root_unreadable: "Das ist keine signierte Wurzel.",
  root_not_signed: "Die Wurzel ist nicht mit den Schlüsseln signiert, die sie signiert haben müssen.",
  cosignature_wrong: "Die Bestätigung dieses Zeugen ist falsch: Sein Schlüssel hat sie nicht erzeugt.",
  trees_differ:
    "Der Baum setzt einen früheren Baum dieses Protokolls nicht fort: Es wurde gegabelt, zurückgesetzt oder neu geschrieben.",
  format_unknown:
    "Diese Version von Ostiary kennt das Format der Datei nicht. Prüfen Sie sie mit einer neueren Version.",
  no_signed_root: "Keine signierte Wurzel deckt dieses Protokoll ab; nur sein Betreiber steht dafür ein.",
  kept_root_newer:
    "Die aufbewahrte Wurzel ist neuer als dieser Export. Erstellen Sie ihn erneut; hilft das nicht, ging das Protokoll zurück.",
  kept_root_not_connected:
    "Die Dateien zeigen nicht, ob das Protokoll die aufbewahrte Wurzel fortsetzt. Erstellen Sie den Export mit diesem Parameter.",
  root_of_other_log: "Die Wurzel gehört zu einem Protokoll mit anderem Namen.",
  event_joined_late:
    "Das Ereignis ist über eine Stunde älter als ein früheres der Kette. Erst sein Ausgang brachte es in dieses Protokoll, vielleicht verspätet: Ob es so alt ist, zeigt das Protokoll seiner Person.",
  entries_given_up: "Ein Betreiber hat erklärt, dass hier Einträge nicht wiederherstellbar sind.",
  not_cosigned:
    "Zu wenige Zeugen haben einen Baum mit diesem Export bestätigt. Erstellen Sie ihn erneut; hilft das nicht, antworten die Zeugen nicht oder lehnen das Protokoll ab.",
};

/** Returns a finding as German sentences. */
export function germanOf({ code, place, expected, found }: Finding): string {
  const where = placeText(place);
  return [
    `${where}${where === "" ? "" : ": "}${GERMAN[code]}`,
    ...(expected === null ? [] : [`Erwartet: ${expected}.`]),
    ...(found === null ? [] : [`Gefunden: ${found}.`]),
  ].join(" ");
}

function placeText({ line, event_id, position, to, leaf, root }: FindingPlace): string {
  const range =
    to === undefined || to === position ? `Position ${position}` : `Positionen ${position} bis ${to}`;
  return [
    ...(line === undefined ? [] : [`Zeile ${line}`]),
    ...(event_id === undefined ? [] : [`Ereignis ${event_id}`]),
    ...(position === undefined ? [] : [range]),
    ...(leaf === undefined ? [] : [`Blatt ${leaf}`]),
    ...(root === undefined ? [] : [root]),
  ].join(", ");
}
