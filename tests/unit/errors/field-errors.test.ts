import { describe, expect, test } from "bun:test";
import { FIELD_ERRORS_MAX, fieldErrors, partsThatFit, violationsOf } from "@ostiary/lib/domain/errors";
import { mapOf } from "@ostiary/lib/domain/schemas";
import { Type } from "@sinclair/typebox";

const Name = Type.String({ pattern: "^[a-z]{1,4}$", message: (name: unknown) => `No name: ${name}.` });
const Wheel = Type.Object(
  { spokes: Type.Integer({ minimum: 1, message: "spokes is a whole number above 0." }) },
  { additionalProperties: false, noun: "A wheel" },
);
const Cart = Type.Object(
  {
    owner: Type.String({ rule: "must be an owner" }),
    wheels: Type.Array(Wheel, { minItems: 1, maxItems: 2 }),
    brake: Type.Optional(
      Type.Union([Type.Literal(false), Type.Array(Name), Wheel, Type.Null()], { message: "No brake." }),
    ),
    parts: Type.Optional(mapOf(Name, Wheel)),
  },
  { additionalProperties: false },
);
const cart = { owner: "me", wheels: [{ spokes: 7 }] };

const errors = (value: unknown) => fieldErrors(Cart, value).map(({ path, message }) => [path, message]);

describe("what does not fit its schema", () => {
  test("is nothing in a value that fits", () => {
    expect(errors({ ...cart, brake: null, parts: { axle: { spokes: 1 } } })).toEqual([]);
  });

  // ER-9
  test("is reported at once: missing, then unknown, then wrong, each at its path", () => {
    const value = { color: "red", wheels: [{}, { spokes: 0, rim: 1 }], parts: { axle: 1, Axle: {} } };
    expect(errors(value)).toEqual([
      ["owner", "owner is required and must be an owner."],
      ["color", "color is not a known field: remove the field."],
      ["wheels[0].spokes", "spokes is a whole number above 0."],
      ["wheels[1].rim", "Unknown field `rim`. A wheel takes spokes."],
      ["wheels[1].spokes", "spokes is a whole number above 0."],
      ["parts.Axle", "No name: Axle."],
      ["parts.axle", "A wheel must be an object with spokes."],
      ["parts.Axle.spokes", "spokes is a whole number above 0."],
    ]);
  });

  test("is the list or the object itself when it has too few or too many members", () => {
    expect(errors({ ...cart, wheels: [] })).toEqual([["wheels", "wheels must be a list of 1 to 2 items."]]);
    expect(errors({ ...cart, wheels: [{ spokes: 1 }, 5, { spokes: 1 }] })).toEqual([
      ["wheels", "wheels must be a list of 1 to 2 items."],
      ["wheels[1]", "A wheel must be an object with spokes."],
    ]);
  });

  test("is reported for the member of a union that a list or an object was meant to be", () => {
    expect(errors({ ...cart, brake: { spokes: "x" } })).toEqual([
      ["brake.spokes", "spokes is a whole number above 0."],
    ]);
    expect(errors({ ...cart, brake: ["a", "B"] })).toEqual([["brake[1]", "No name: B."]]);
    expect(errors({ ...cart, brake: true })).toEqual([["brake", "No brake."]]);
  });

  test("is the whole value when it has another type", () => {
    expect(errors([])).toEqual([["", "The body must be an object."]]);
    expect(errors({ ...cart, parts: [] })).toEqual([["parts", "parts must be an object."]]);
  });

  // ER-9
  test("is reported a hundred times at most, and long keys are cut", () => {
    const wheels = Array.from({ length: 30_000 }, () => ({ ["x".repeat(10_000)]: 1 }));
    const found = fieldErrors(Cart, { ...cart, wheels });
    expect(found).toHaveLength(FIELD_ERRORS_MAX);
    expect(Math.max(...found.map(({ path }) => path.length))).toBeLessThan(200);
  });
});

describe("the parts that fit", () => {
  const parts = (value: unknown) => partsThatFit(Cart, value, violationsOf(Cart, value));

  test("are the value without its violations, which stays unchanged", () => {
    const wheel = { spokes: 3 };
    const value = {
      owner: 7,
      wheels: [wheel, { spokes: 0 }],
      parts: JSON.parse('{"__proto__":{"spokes":1}}'),
    };
    const before = structuredClone(value);
    const left = parts(value);
    expect(left).toMatchObject({ owner: undefined, wheels: [wheel, { spokes: undefined }] });
    expect(Object.entries(left?.parts ?? {})).toEqual([["__proto__", undefined]]);
    expect(value).toEqual(before);
  });

  test("are empty when the value is of another type, or has more violations than are listed", () => {
    expect(parts([])).toBeUndefined();
    expect(parts({ ...cart, wheels: Array(FIELD_ERRORS_MAX).fill(1) })).toBeUndefined();
  });
});
