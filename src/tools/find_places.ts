/**
 * Where a text is found in another. Knuth, Morris and Pratt's search, because `indexOf` takes the product of both lengths for texts that
 * repeat themselves, and a file of the worst kind must not stop the program.
 */

/** The places from left to right that do not overlap, and whether there are others, which overlap them. */
export interface FoundPlaces {
  readonly starts: number[];
  readonly overlaps: boolean;
}

/** Finds `wanted` (not empty) in `text`; `undefined` when there are more than `limit` places. Linear time for any texts. */
export function findPlaces(text: string, wanted: string, limit: number): FoundPlaces | undefined {
  const borders = bordersOf(wanted);
  const starts: number[] = [];
  let overlaps = false;
  let end = 0;
  let matched = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    while (matched > 0 && unit !== wanted.charCodeAt(matched)) matched = borders[matched - 1]!;
    if (unit === wanted.charCodeAt(matched)) matched++;
    if (matched < wanted.length) continue;
    matched = borders[matched - 1]!;
    const start = index + 1 - wanted.length;
    if (start < end) {
      overlaps = true;
    } else {
      end = index + 1;
      if (starts.push(start) > limit) return undefined;
    }
  }
  return { starts, overlaps };
}

/** For each beginning of the text, the length of the longest shorter beginning that is also its end. */
function bordersOf(text: string): Int32Array {
  const borders = new Int32Array(text.length);
  let border = 0;
  for (let index = 1; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    while (border > 0 && unit !== text.charCodeAt(border)) border = borders[border - 1]!;
    if (unit === text.charCodeAt(border)) border++;
    borders[index] = border;
  }
  return borders;
}
