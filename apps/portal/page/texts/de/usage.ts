import type { Texts } from "../en.ts";

/** The German texts of the usage page. */
export const usage: Texts["usage"] = {
  title: "Nutzung",
  lead: "Die Nutzung dieser Organisation, vom Gateway gezählt. Die Zahlen sind bis zu 10 Sekunden alt, die Tage richten sich nach UTC.",
  month: "Monat",
  totals: "Summen des Monats",
  transferred: "Übertragen",
  withOwn: "Mit den Aufrufen dieses Portals",
  quotas: "Kontingente",
  noQuotas: "In diesem Zeitraum wurde keine Anfrage auf ein Kontingent angerechnet.",
  quotaOf: (name, period) => `${name}, ${period}`,
  periods: { day: "pro Tag", month: "pro Monat" },
  used: (charged, requests) => `${charged} von ${requests} Anfragen sind verbraucht.`,
  usedOfUnknown: (charged) => `${charged} Anfragen sind verbraucht.`,
  left: (left) => `${left} sind übrig.`,
  resets: "Der nächste Zeitraum beginnt am",
  near: (name, percent) => `${percent} % von ${name} sind verbraucht.`,
  over: (name) =>
    `${name} ist aufgebraucht. Das Gateway lehnt weitere Anfragen bis zum nächsten Zeitraum ab.`,
  days: "Anfragen nach Tagen",
  day: "Tag",
  plot: (requests, refused, failed) =>
    `Anfragen nach Tagen: ${requests} insgesamt, ${refused} abgelehnt, ${failed} fehlgeschlagen.`,
  kinds: { served: "beantwortet", failed: "fehlgeschlagen", refused: "abgelehnt" },
  asTable: "Dasselbe als Tabelle",
  gap: "Möglicherweise fehlen Anfragen nach",
  parts: "Aufschlüsselung des Monats",
  by: "Aufgeteilt nach",
  divisions: { service: "Dienst", route: "Route", key: "Schlüssel" },
  none: "In diesem Monat gab es keine Anfragen.",
  onlyOwn: "Außer Aufrufen dieses Portals gab es in diesem Monat keine Anfragen.",
  columns: {
    requests: "Anfragen",
    refused: "Abgelehnt",
    failed: "Fehlgeschlagen",
    bytes_in: "Empfangen",
    bytes_out: "Gesendet",
  },
  limits: "Limits Ihrer Aufrufe",
  showLimits: "Limits anzeigen",
  noLimits: "Ihre Rolle erlaubt keine Aufrufe.",
  limit: "Limit",
  unlimited: "kein Limit",
  defaultLimit: (requests) =>
    requests === null
      ? "das Standardlimit des Gateways"
      : `${requests} Anfragen, das Standardlimit des Gateways`,
  perSeconds: (requests, seconds) => `${requests} Anfragen in ${seconds} s`,
  perPeriod: (requests, period) => `${requests} Anfragen ${period}`,
};
