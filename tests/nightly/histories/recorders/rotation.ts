import { VALIDATE_PATH } from "@ostiary/lib/contracts/internal-api";
import { type Asked, memberOf, textIn, unexpected } from "../../faults/system/asking.ts";
import type { Key } from "../../faults/system/directory.ts";
import { check, type Verdict } from "../checker/check.ts";
import { History } from "../checker/history.ts";
import { type RotationCall, type RotationOutcome, rotation } from "../models/rotation.ts";
import { type Field, type Recorder, together } from "./recorder.ts";

const CLIENTS = 4;
const STEPS = 6;
/** The overlap that the faulty client requests. The model allows no overlap. */
const FAULTY_OVERLAP_S = 3_600;

/** Records the calls of clients that repeatedly rotate one key, and validate old and new keys. */
export const recordRotation: Recorder = {
  name: rotation.name,
  async record(field): Promise<Verdict[]> {
    const { directory, random } = field;
    const { member_id } = await directory.found();
    const work = new RotationWork(field, member_id, await directory.key(member_id));
    await together(CLIENTS, STEPS, () =>
      random.chance(55) ? work.validate(work.some()) : work.rotate(work.some()),
    );
    const last = work.last();
    await work.rotate(last);
    await work.validate(last);
    return check(rotation, work.history.operations);
  },
};

class RotationWork {
  readonly history = new History<RotationCall, RotationOutcome>();
  readonly #field: Field;
  readonly #path: string;
  readonly #line: string;
  readonly #keys: [Key, ...Key[]];

  constructor(field: Field, member_id: string, first: Key) {
    this.#field = field;
    this.#path = `/members/${member_id}/api-keys`;
    this.#line = first.id;
    this.#keys = [first];
  }

  /** Returns a random known key, with a preference for the newest one. */
  some(): Key {
    return this.#field.random.chance(60) ? this.last() : this.#field.random.pick(this.#keys);
  }

  last(): Key {
    return this.#keys.at(-1) ?? this.#keys[0];
  }

  rotate({ id }: Key): Promise<unknown> {
    const overlap_seconds = this.#field.isFaulty ? FAULTY_OVERLAP_S : 0;
    const asked: Asked = { method: "POST", path: `${this.#path}/${id}/rotate`, body: { overlap_seconds } };
    return this.history.record({ kind: "rotate", line: this.#line, key: id }, async () => {
      const response = await this.#field.directory.ask(asked);
      if (response === null) return null;
      if (response.status === 409) return { kind: "refused" };
      if (response.status !== 201) return unexpected(asked, response);
      const key = { id: textIn(response.body, "id"), secret: textIn(response.body, "key") };
      this.#keys.push(key);
      return { kind: "rotated", key: key.id };
    });
  }

  validate({ id, secret }: Key): Promise<unknown> {
    const body = { credential: secret };
    const asked: Asked = { method: "POST", path: VALIDATE_PATH, port: "internal", body };
    return this.history.record({ kind: "validate", line: this.#line, key: id }, async () => {
      const response = await this.#field.directory.ask(asked);
      if (response === null) return null;
      if (response.status !== 200) return unexpected(asked, response);
      return { kind: "validated", valid: memberOf(response.body, "valid") === true };
    });
  }
}
