"use strict";
// The page's compressed parts, inflated at once: DEFLATE (RFC 1951) in gzip's frame (RFC 1952).
// A browser's own DecompressionStream answers later, and a printer doesn't wait for it.
const inflate = (() => {
  const HEADER = 10; // bytes, as gzip writes it without a file's name
  const END = 256; // the symbol that ends a block; larger ones are lengths of repeats
  const STORED = 0, FIXED = 1;
  // the order in which a block tells the lengths of the code that its own codes are written in
  const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

  // Repeats have lengths and distances in classes: each class has its first value and how many bits follow.
  function classes(first, bits) {
    let next = first;
    return bits.map((extra) => {
      const own = { first: next, extra };
      next += 1 << extra;
      return own;
    });
  }
  const count = (n, value) => Array.from({ length: n }, (_, k) => value(k));
  const LENGTHS = [...classes(3, count(28, (k) => Math.max(0, (k >> 2) - 1))), { first: 258, extra: 0 }];
  const DISTANCES = classes(1, count(30, (k) => Math.max(0, (k >> 1) - 1)));

  // A prefix code by the lengths of its words: for the next bits, lowest first, 16 * symbol + length of its word.
  function codeOf(lengths) {
    const longest = Math.max(...lengths);
    const table = new Uint16Array(1 << longest);
    let word = 0;
    for (let length = 1; length <= longest; length += 1) {
      lengths.forEach((own, symbol) => {
        if (own !== length) return;
        let turned = 0; // words are written highest bit first
        for (let bit = 0; bit < length; bit += 1) turned |= ((word >> bit) & 1) << (length - 1 - bit);
        for (let next = turned; next < table.length; next += 1 << length) table[next] = (symbol << 4) | length;
        word += 1;
      });
      word <<= 1;
    }
    return { table, longest };
  }
  const fixedCodes = () => [
    codeOf(count(288, (k) => (k < 144 ? 8 : k < 256 ? 9 : k < 280 ? 7 : 8))),
    codeOf(count(30, () => 5)),
  ];

  return (packed) => {
    const size = new DataView(packed.buffer).getUint32(packed.length - 4, true); // gzip's last four bytes
    const whole = new Uint8Array(size);
    let read = HEADER, written = 0;
    let held = 0, bits = 0; // bits that were read and not used yet
    const hold = (wanted) => {
      for (; bits < wanted; bits += 8) held |= packed[read++] << bits;
    };
    const drop = (used) => {
      held >>>= used;
      bits -= used;
    };
    const take = (wanted) => {
      hold(wanted);
      const value = held & ((1 << wanted) - 1);
      drop(wanted);
      return value;
    };
    const symbolOf = ({ table, longest }) => {
      hold(longest);
      const entry = table[held & (table.length - 1)];
      drop(entry & 15);
      return entry >> 4;
    };
    const valueOf = ({ first, extra }) => first + take(extra);

    function ownCodes() {
      const literals = 257 + take(5), distances = 1 + take(5), told = 4 + take(4);
      const short = new Array(ORDER.length).fill(0);
      for (const symbol of ORDER.slice(0, told)) short[symbol] = take(3);
      const code = codeOf(short);
      const lengths = [];
      while (lengths.length < literals + distances) {
        const symbol = symbolOf(code);
        if (symbol < 16) lengths.push(symbol);
        else if (symbol === 16) lengths.push(...new Array(3 + take(2)).fill(lengths.at(-1)));
        else lengths.push(...new Array(symbol === 17 ? 3 + take(3) : 11 + take(7)).fill(0));
      }
      return [codeOf(lengths.slice(0, literals)), codeOf(lengths.slice(literals))];
    }

    function copyStored() {
      read -= bits >> 3; // whole bytes that were read ahead
      held = bits = 0;
      const length = packed[read] | (packed[read + 1] << 8); // and its complement after it
      whole.set(packed.subarray(read + 4, read + 4 + length), written);
      read += 4 + length;
      written += length;
    }

    let last = 0;
    while (!last) {
      last = take(1);
      const kind = take(2);
      if (kind === STORED) {
        copyStored();
        continue;
      }
      const [literals, distances] = kind === FIXED ? fixedCodes() : ownCodes();
      for (let symbol = symbolOf(literals); symbol !== END; symbol = symbolOf(literals)) {
        if (symbol < END) {
          whole[written++] = symbol;
          continue;
        }
        const length = valueOf(LENGTHS[symbol - END - 1]);
        const distance = valueOf(DISTANCES[symbolOf(distances)]);
        for (const end = written + length; written < end; written += 1) whole[written] = whole[written - distance];
      }
    }
    return whole;
  };
})();
