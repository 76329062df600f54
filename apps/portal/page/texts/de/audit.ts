import type { AuthType } from "@ostiary/lib/domain/credentials";
import type { Texts } from "../en.ts";
import { actions } from "./actions.ts";
import { germanOf } from "./findings.ts";

/** The German texts of the audit log. */
export const audit: Texts["audit"] = {
  title: "Audit-Protokoll",
  titleOfPerson: "Mein Audit-Protokoll",
  lead: "Die protokollierten Anfragen an diese Organisation, die neuesten zuerst.",
  leadOfPerson: "Ihre protokollierten Anfragen außerhalb von Organisationen, die neuesten zuerst.",
  event: "Ereignis",
  events: "Ereignisse",
  back: "Zurück zu den Ereignissen",
  none: "Kein Ereignis passt. Entfernen Sie die Filter, oder wählen Sie einen anderen Zeitraum.",
  noEvent: "Dieses Protokoll enthält kein Ereignis zu dieser Anfrage.",
  wholeLog: "Das ganze Protokoll wurde durchsucht.",
  ofKey: (shown, read, key) =>
    `${shown} der ${read} bisher gelesenen Ereignisse stammen vom Schlüssel ${key}.`,
  columns: { time: "Zeit", request: "Was", actor: "Wer", outcome: "Ergebnis" },
  you: "Sie",
  somebody: "Jemand",
  done: "erledigt",
  failed: "gescheitert",
  actions,
  call: "hat die API aufgerufen",
  auth: (type) => AUTH_TYPES[type],
  outcomes: {
    pending: "unbekannt",
    rejected: "abgelehnt",
    responded: "beantwortet",
    no_response: "keine Antwort",
  },
  outcomeHelp: {
    pending: "Die Anfrage hat möglicherweise Daten geändert.",
    rejected: "Das Gateway hat geantwortet, ohne den Dienst aufzurufen.",
    responded: "Der Dienst hat geantwortet.",
    no_response: "Das Gateway hat den Dienst aufgerufen, aber keine Antwort erhalten.",
  },
  fields: {
    call: "Aufruf",
    ip: "IP-Adresse",
    user_agent: "User-Agent",
    details: "Details",
  },
  param: (name) => `Parameter ${name}`,
  sameKey: "Was hat dieser Schlüssel getan?",
  sameMember: "Was hat dieses Mitglied getan?",
  copyEvent: "Ereignis als JSON kopieren",
  filters: {
    title: "Ereignisse filtern",
    time: "Zeitraum",
    anyTime: "jederzeit",
    otherTime: "anderer Zeitraum …",
    last: (range) => `letzte ${range}`,
    since: (time) => `ab ${time}`,
    until: (time) => `bis ${time}`,
    anybody: "alle",
    action: "Aktion",
    more: "Weitere Filter",
    any: "alle",
    occurred_after: "Ab",
    occurred_before: "Vor",
    actor_member_id: "Person",
    service: "Dienst",
    method: "Methode",
    route: "Route",
    outcome: "Ergebnis",
    request_id: "Anfrage",
    created_id: "Kennung der angelegten Ressource",
    key_prefix: "Schlüssel",
    keyHelp: "Der Anfang eines Schlüssels, wie er in der Schlüsselliste steht.",
    show: "Ereignisse anzeigen",
    clear: "Filter zurücksetzen",
  },
  export: {
    open: "Exportieren …",
    title: "Audit-Protokoll exportieren",
    whole: "Die Datei enthält alle Ereignisse des Protokolls.",
    filtered: "Die Datei enthält alle Ereignisse, die den Filtern entsprechen.",
    format: "Format",
    formats: { csv: "CSV, für Tabellenkalkulationen", ndjson: "NDJSON, ein Ereignis je Zeile" },
    start: "Exportieren",
    running: "Wird exportiert …",
    cancel: "Export abbrechen",
    progress: (kib) => `Bisher ${kib} KiB.`,
    saved: "Der Export ist vollständig.",
    failed: "Der Export ist unvollständig, und es wurde nichts gespeichert",
  },
  verify: {
    link: "Protokoll prüfen",
    lead: "Ihr Browser liest das ganze Protokoll mit seinem Beweis und führt alle Prüfungen selbst durch.",
    insecure: "Browser prüfen Signaturen nur auf Seiten mit https. Öffnen Sie diese Seite über https.",
    kept: "Eine frühere Kopie, falls Sie eine aufbewahrt haben",
    keptHelp: "Eine auf dieser Seite gespeicherte Wurzel oder ein früherer Export mit Beweis.",
    start: "Jetzt prüfen",
    running: "Wird geprüft …",
    cancel: "Abbrechen",
    progress: (events, kib) => `Geprüfte Ereignisse: ${events} (${kib} KiB).`,
    verdict: "Ergebnis der Prüfung",
    complete: ({ value, text }, span) =>
      `${value === 1 ? "Das eine Ereignis" : `Alle ${text} Ereignisse`}${span === null ? "" : ` vom ${span.from} bis ${span.to}`} ${value === 1 ? "ist" : "sind"} vollständig und unverändert.`,
    undecided: ({ value, text }, span) =>
      `Nicht entschieden: An ${value === 1 ? "einem Ereignis" : `${text} Ereignissen`}${span === null ? "" : ` vom ${span.from} bis ${span.to}`} ist nichts falsch, aber die Dateien beweisen die Vollständigkeit nicht.`,
    seenBy: ({ value, text }, names) => `Gesehen von ${value === 1 ? "einem" : text} Zeugen: ${names}.`,
    altered: "Das Protokoll stimmt nicht mit dem überein, was versiegelt wurde.",
    more: (count) => `Und ${count} weitere.`,
    entries: (count) =>
      `Das Protokoll hat ${count} Einträge: einen für jede Anfrage und einen für ihr Ergebnis.`,
    pending: (count) => `Ereignisse ohne bekanntes Ergebnis: ${count}.`,
    root: (origin, size, time) =>
      `Die signierte Wurzel von ${origin} mit der Größe ${size} deckt das Protokoll bis ${time} ab.`,
    signed: "Sie ist signiert mit dem Schlüssel",
    keyOfFile: "(nur der Export selbst nennt diesen Schlüssel, und Sie haben ihn nicht bestätigt).",
    continues: (size) => `Das Protokoll setzt die aufbewahrte Kopie mit der Größe ${size} fort.`,
    dropped: (count, month) =>
      `${count} Einträge bis zum Monat ${month} sind laut Protokoll gelöscht; nur ihre Hashes sind erhalten.`,
    restart: (time, from) =>
      `Am ${time} hat ein Betreiber erklärt, dass Einträge ab Position ${from} nicht wiederherstellbar sind.`,
    earlierTree: (time, origin) =>
      `Am ${time} hat ein Betreiber das Protokoll neu begonnen, das zuvor ${origin} hieß. Was dort versiegelt wurde, kann fehlen oder geändert sein.`,
    finding: (finding) => germanOf(finding),
    keepTitle: "Eine Kopie aufbewahren",
    keepHelp:
      "Bewahren Sie diese kleine Datei außerhalb dieses Dienstes auf. Mit ihr zeigt eine spätere Prüfung, dass bis zu dieser Wurzel nichts geändert oder abgeschnitten wurde.",
    keep: (number) => `Wurzel ${number} speichern`,
    command: "Dasselbe auf der Befehlszeile",
    failed: {
      kept: "Die Datei enthält weder eine signierte Wurzel noch einen Export mit Beweis. Wählen Sie eine andere Datei.",
      broken: "Die Antwort ist kein Export eines Protokolls. Versuchen Sie es erneut.",
      unavailable:
        "Der Export wurde nicht vollständig übertragen, daher konnte das Protokoll nicht geprüft werden. Versuchen Sie es erneut.",
    },
  },
};

const AUTH_TYPES: Record<AuthType, string> = {
  jwt: "angemeldet",
  user_apikey: "persönlicher Schlüssel",
  member_apikey: "Schlüssel",
  member_session: "im Portal",
};
