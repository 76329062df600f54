/**
 * Returns whether `name` matches `pattern`, in which `*` stands for any number of characters. The time is at
 * most proportional to the product of both lengths.
 */
export function fitsPattern(pattern: string, name: string): boolean {
  let inPattern = 0;
  let inName = 0;
  // `afterStar` is the index after the latest star. `taken` is the end of the text that this star matches.
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
