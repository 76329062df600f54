import { type IdpSubject, SUBJECT_LENGTH_MAX } from "@ostiary/lib/contracts/admission";
import { type FieldError, validationError } from "@ostiary/lib/domain/errors";

/** Characters that can be stored and compared: no control characters, surrogates only in pairs. */
const STORABLE = /^(?:[^\p{Cc}\p{Cs}])+$/u;

/** Refuses with 422 an IdP subject that no identity provider would give. `path` is where it stands in the body. */
export function checkedSubject(idp: IdpSubject, path = "idp"): IdpSubject {
  const fields: FieldError[] = (["issuer", "subject"] as const)
    .filter((part) => idp[part].length > SUBJECT_LENGTH_MAX || !STORABLE.test(idp[part]))
    .map((part) => ({
      path: `${path}.${part}`,
      message: `${path}.${part} must be text of 1 to ${SUBJECT_LENGTH_MAX} characters, without control characters.`,
    }));
  if (fields.length > 0) throw validationError(fields);
  return idp;
}
