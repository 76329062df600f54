import type { ActionText, ActionTexts } from "../../audit/action-text.ts";

/** Returns an action with its object, the participle and the infinitive. */
const deed = (object: string, done: string, verb: string): ActionText => [
  `hat ${object} ${done}`,
  `wollte ${object} ${verb}`,
];

/** The German words for audited actions. */
export const actions: ActionTexts = {
  known: {
    "DELETE /member": deed("die Organisation", "verlassen", "verlassen"),
    "DELETE /member/api-keys/{key_id}": deed("einen API-Schlüssel", "widerrufen", "widerrufen"),
    "DELETE /org": deed("die Organisation", "gelöscht", "löschen"),
    "DELETE /org/audit-streams/{stream_id}": deed("einen Stream", "gelöscht", "löschen"),
    "DELETE /org/invites/{invite_id}": deed("eine Einladung", "widerrufen", "widerrufen"),
    "DELETE /org/members/{member_id}": deed("ein Mitglied", "entfernt", "entfernen"),
    "DELETE /org/service-accounts/{service_account_id}": deed("ein Dienstkonto", "entfernt", "entfernen"),
    "DELETE /org/service-accounts/{service_account_id}/api-keys/{key_id}": deed(
      "einen Schlüssel eines Dienstkontos",
      "widerrufen",
      "widerrufen",
    ),
    "DELETE /user": deed("das Konto", "gelöscht", "löschen"),
    "DELETE /user/api-keys/{key_id}": deed("einen persönlichen Schlüssel", "widerrufen", "widerrufen"),
    "PATCH /member": deed("die eigene Mitgliedschaft", "geändert", "ändern"),
    "PATCH /org": deed("die Organisation", "umbenannt", "umbenennen"),
    "PATCH /org/audit-streams/{stream_id}": deed("einen Stream", "geändert", "ändern"),
    "PATCH /org/members/{member_id}": deed("ein Mitglied", "geändert", "ändern"),
    "PATCH /org/service-accounts/{service_account_id}": deed("ein Dienstkonto", "umbenannt", "umbenennen"),
    "PATCH /user": deed("den Anzeigenamen", "geändert", "ändern"),
    "POST /member/api-keys": deed("einen API-Schlüssel", "angelegt", "anlegen"),
    "POST /member/api-keys/{key_id}/rotate": deed("einen API-Schlüssel", "erneuert", "erneuern"),
    "POST /org/audit-streams": deed("einen Stream", "angelegt", "anlegen"),
    "POST /org/audit-streams/{stream_id}/rotate-secret": deed(
      "das Geheimnis eines Streams",
      "ersetzt",
      "ersetzen",
    ),
    "POST /org/audit-streams/{stream_id}/test": deed("einen Stream", "getestet", "testen"),
    "POST /org/invites": deed("eine Einladung", "erstellt", "erstellen"),
    "POST /org/members": deed("ein Mitglied", "hinzugefügt", "hinzufügen"),
    "POST /org/service-accounts": deed("ein Dienstkonto", "angelegt", "anlegen"),
    "POST /org/service-accounts/{service_account_id}/api-keys": deed(
      "einen Schlüssel eines Dienstkontos",
      "angelegt",
      "anlegen",
    ),
    "POST /org/service-accounts/{service_account_id}/api-keys/{key_id}/rotate": deed(
      "einen Schlüssel eines Dienstkontos",
      "erneuert",
      "erneuern",
    ),
    "POST /user/api-keys": deed("einen persönlichen Schlüssel", "angelegt", "anlegen"),
    "POST /user/api-keys/{key_id}/rotate": deed("einen persönlichen Schlüssel", "erneuert", "erneuern"),
    "POST /user/invites/redeem": deed("eine Einladung", "angenommen", "annehmen"),
    "POST /user/organizations": deed("die Organisation", "angelegt", "anlegen"),
    "POST /user/organizations/{organization_id}/session": deed("die Organisation", "geöffnet", "öffnen"),
  },
  ofSummary: (summary) => [`„${summary}“`, `„${summary}“`],
};
