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

describe("a violation of a schema", () => {
  test("is not reported for a valid value", () => {
    expect(errors({ ...cart, brake: null, parts: { axle: { spokes: 1 } } })).toEqual([]);
  });

  // ER-9
  test("is reported with all others and its path: missing fields, then unknown, then wrong ones", () => {
    const value = { color: "red", wheels: [{}, { spokes: 0, rim: 1 }], parts: { axle: 1, Axle: {} } };
    expect(errors(value)).toEqual([
      ["owner", "owner is required and must be an owner."],
      ["color", "color is not a known field: remove the field."],
      ["wheels[0].spokes", "spokes is a whole number above 0."],
      ["wheels[1].rim", "Unknown field `rim`. A wheel can have spokes."],
      ["wheels[1].spokes", "spokes is a whole number above 0."],
      ["parts.Axle", "No name: Axle."],
      ["parts.axle", "A wheel must be an object with spokes."],
      ["parts.Axle.spokes", "spokes is a whole number above 0."],
    ]);
  });

  test("is reported at the path of a list that has too few or too many items", () => {
    expect(errors({ ...cart, wheels: [] })).toEqual([["wheels", "wheels must be a list of 1 to 2 items."]]);
    expect(errors({ ...cart, wheels: [{ spokes: 1 }, 5, { spokes: 1 }] })).toEqual([
      ["wheels", "wheels must be a list of 1 to 2 items."],
      ["wheels[1]", "A wheel must be an object with spokes."],
    ]);
  });

  test("is reported for the branch of a union that has the type of the value", () => {
    expect(errors({ ...cart, brake: { spokes: "x" } })).toEqual([
      ["brake.spokes", "spokes is a whole number above 0."],
    ]);
    expect(errors({ ...cart, brake: ["a", "B"] })).toEqual([["brake[1]", "No name: B."]]);
    expect(errors({ ...cart, brake: true })).toEqual([["brake", "No brake."]]);
  });

  test("is reported at the path of the whole value if the value has the wrong type", () => {
    expect(errors([])).toEqual([["", "The body must be an object."]]);
    expect(errors({ ...cart, parts: [] })).toEqual([["parts", "parts must be an object."]]);
  });

  // ER-9
  test("is reported at most a hundred times, and long keys are shortened", () => {
    const wheels = Array.from({ length: 30_000 }, () => ({ ["x".repeat(10_000)]: 1 }));
    const found = fieldErrors(Cart, { ...cart, wheels });
    expect(found).toHaveLength(FIELD_ERRORS_MAX);
    expect(Math.max(...found.map(({ path }) => path.length))).toBeLessThan(200);
  });
});

describe("partsThatFit", () => {
  const parts = (value: unknown) => partsThatFit(Cart, value, violationsOf(Cart, value));

  test("returns the value without its violations, and does not change the value", () => {
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

  test("returns nothing for a value with the wrong type, or with more violations than are listed", () => {
    expect(parts([])).toBeUndefined();
    expect(parts({ ...cart, wheels: Array(FIELD_ERRORS_MAX).fill(1) })).toBeUndefined();
  });
});
