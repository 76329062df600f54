import type { AuthType } from "@ostiary/lib/domain/credentials";
import { sentenceOf } from "@ostiary/lib/verification/findings";
import type { Texts } from "../en.ts";
import { findings } from "./findings.ts";

/** The German texts of the audit log. */
export const audit: Texts["audit"] = {
  title: "Audit-Protokoll",
  titleOfPerson: "Mein Audit-Protokoll",
  lead: "Die protokollierten Anfragen an diese Organisation, die neuesten zuerst.",
  leadOfPerson: "Ihre protokollierten Anfragen außerhalb von Organisationen, die neuesten zuerst.",
  event: "Ereignis",
  events: "Ereignisse",
  back: "Zurück zu den Ereignissen",
  none: "Keine Ereignisse gefunden.",
  noEvent: "Dieses Protokoll enthält kein Ereignis zu dieser Anfrage.",
  wholeLog: "Das ganze Protokoll wurde durchsucht.",
  ofKey: (shown, read, key) =>
    `${shown} der ${read} bisher gelesenen Ereignisse stammen vom Schlüssel ${key}.`,
  columns: { time: "Zeit", request: "Anfrage", actor: "Aufrufer", outcome: "Ergebnis" },
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
    occurred_at: "Zeit",
    outcome: "Ergebnis",
    service: "Dienst",
    auth_type: "Zugangsdaten",
    key_prefix: "Schlüssel",
    member_id: "Mitglied",
    ip: "IP-Adresse",
    user_agent: "User-Agent",
    request_id: "Anfrage",
    created_id: "Kennung der angelegten Ressource",
    id: "Ereignis",
    details: "Details",
  },
  param: (name) => `Parameter ${name}`,
  sameKey: "Was hat dieser Schlüssel getan?",
  sameMember: "Was hat dieses Mitglied getan?",
  copyEvent: "Ereignis als JSON kopieren",
  filters: {
    title: "Ereignisse filtern",
    any: "alle",
    occurred_after: "Ab",
    occurred_before: "Vor",
    actor_member_id: "Mitglied",
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
    close: "Schließen",
    progress: (kib) => `Bisher ${kib} KiB.`,
    saved: "Der Export ist vollständig.",
    failed: "Der Export ist unvollständig, und es wurde nichts gespeichert",
  },
  verify: {
    link: "Protokoll prüfen",
    title: "Protokoll prüfen",
    lead: "Ihr Browser liest das ganze Protokoll mit seinem Beweis und führt alle Prüfungen selbst durch.",
    insecure: "Browser prüfen Signaturen nur auf Seiten mit https. Öffnen Sie diese Seite über https.",
    kept: "Eine frühere Kopie, falls Sie eine aufbewahrt haben",
    keptHelp:
      "Ein auf dieser Seite gespeicherter Prüfpunkt, ein früherer Export mit Beweis oder eine Datei mit Prüfpunkten.",
    start: "Jetzt prüfen",
    running: "Wird geprüft …",
    cancel: "Abbrechen",
    progress: (events, kib) => `Geprüfte Ereignisse: ${events} (${kib} KiB).`,
    verdict: "Ergebnis der Prüfung",
    complete: ({ value, text }, span, checkpoint) => {
      const verb = value === 1 ? "ist" : "sind";
      const days = span === null ? "" : ` vom ${span.from} bis ${span.to}`;
      return checkpoint === null
        ? `${value === 1 ? "Das eine Ereignis" : `Alle ${text} Ereignisse`}${days} ${verb} vollständig und unverändert.`
        : `Bis zum Prüfpunkt ${checkpoint} ${verb} ${value === 1 ? "das eine Ereignis" : `alle ${text} Ereignisse`}${days} vollständig und unverändert.`;
    },
    undecided: ({ value, text }, span) =>
      `${text} ${value === 1 ? "Ereignis" : "Ereignisse"}${span === null ? "" : ` vom ${span.from} bis ${span.to}`} ${value === 1 ? "ist" : "sind"} unverändert, aber die Dateien lassen eine Frage offen.`,
    unwitnessed: ({ value, text }, span) =>
      `${text} ${value === 1 ? "Ereignis" : "Ereignisse"}${span === null ? "" : ` vom ${span.from} bis ${span.to}`} ${value === 1 ? "ist" : "sind"} unverändert, aber zu wenige Zeugen haben das Protokoll gesehen.`,
    seenBy: ({ value, text }, names) => `Gesehen von ${value === 1 ? "einem" : text} Zeugen: ${names}.`,
    altered: "Das Protokoll stimmt nicht mit dem überein, was versiegelt wurde.",
    open: "Was die Dateien nicht zeigen",
    kinds: {
      changed: "Geändert:",
      removed: "Entfernt:",
      added: "Hinzugefügt:",
      moved: "Verschoben:",
      rebuilt: "Neu aufgebaut:",
      checkpoint: "Prüfpunkt:",
      unreadable: "Nicht lesbar:",
    },
    more: (count) => `Und ${count} weitere.`,
    entries: (count) => `Das Protokoll hat ${count} Einträge.`,
    pending: (count) => `Ereignisse ohne bekanntes Ergebnis: ${count}.`,
    sealed: (time) => `Der Prüfpunkt stammt vom ${time},`,
    unsigned: "ist aber nicht signiert: Vergleichen Sie ihn mit Kopien, die Sie aufbewahrt haben.",
    signed: "signiert mit dem Schlüssel",
    keyOfFile: "(dieser Schlüssel steht nur im Export selbst).",
    dropped: (count, time) =>
      `${count} Einträge zu Ereignissen vor ${time} sind laut Protokoll gelöscht; nur ihre Hashes sind erhalten.`,
    notShownTitle: "Was kein Export zeigen kann",
    finding: (finding) => sentenceOf(finding, findings),
    keepTitle: "Eine Kopie aufbewahren",
    keepHelp:
      "Bewahren Sie diese kleine Datei außerhalb dieses Dienstes auf. Mit ihr zeigt eine spätere Prüfung, dass bis zu diesem Prüfpunkt nichts geändert oder abgeschnitten wurde.",
    keep: (number) => `Prüfpunkt ${number} speichern`,
    command: "Dasselbe auf der Befehlszeile",
    failed: {
      kept: "Die Datei enthält weder einen Prüfpunkt noch einen Export mit Beweis. Wählen Sie eine andere Datei.",
      broken: "Die Antwort ist kein Export eines Protokolls. Versuchen Sie es erneut.",
      away: "Der Export wurde nicht vollständig übertragen, daher konnte das Protokoll nicht geprüft werden. Versuchen Sie es erneut.",
    },
  },
};

const AUTH_TYPES: Record<AuthType, string> = {
  jwt: "Anmeldung einer Person",
  user_apikey: "Schlüssel einer Person",
  member_apikey: "Schlüssel eines Mitglieds",
  member_session: "Sitzung eines Mitglieds",
};
