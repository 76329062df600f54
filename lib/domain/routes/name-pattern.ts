/**
 * Returns whether `name` matches `pattern`, in which `*` stands for any number of characters. Takes time
 * proportional to the product of both lengths at most.
 */
export function fitsPattern(pattern: string, name: string): boolean {
  let inPattern = 0;
  let inName = 0;
  // The index after the latest star, and the end of the characters that the star matches so far.
  let afterStar = -1;
  let taken = 0;
  while (inName < name.length) {
    if (pattern[inPattern] === "*") {
      inPattern += 1;
      afterStar = inPattern;
      taken = inName;
    } else if (pattern[inPattern] === name[inName]) {
      inPattern += 1;
      inName += 1;
    } else if (afterStar >= 0) {
      taken += 1;
      inPattern = afterStar;
      inName = taken;
    } else return false;
  }
  while (pattern[inPattern] === "*") inPattern += 1;
  return inPattern === pattern.length;
}
