// JSON as text with positions: a form changes one value and leaves every other character as it was typed.

export class JSONFault extends Error {
  /** @param offset of the first character that is wrong */
  constructor(text, offset, words) {
    super(words);
    Object.assign(this, place(text, offset), { offset });
  }
}

/** Line and column of an offset, both from 1. */
export function place(text, offset) {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}

/**
 * A text as a tree. Each node has `start`, `end` (exclusive) and `value`; an object has `members` (`{ key, start, node }`), an
 * array `items`.
 * @throws JSONFault
 */
export function parse(text) {
  return new Reader(text).whole();
}

const deepest = 64;
const scalar = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;
// eslint-disable-next-line no-control-regex
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

class Reader {
  constructor(text) {
    this.text = text;
    this.offset = 0;
    this.depth = 0;
  }

  fail(words) { throw new JSONFault(this.text, this.offset, words); }

  skipBlanks() {
    while (" \t\r\n".includes(this.text[this.offset] ?? "x")) this.offset += 1;
  }

  /** The match of a pattern here, or null. */
  match(pattern) {
    pattern.lastIndex = this.offset;
    const found = pattern.exec(this.text);
    if (found) this.offset = pattern.lastIndex;
    return found && found[0];
  }

  whole() {
    this.skipBlanks();
    const node = this.value();
    this.skipBlanks();
    if (this.offset < this.text.length) this.fail("nothing may follow the end of the value");
    return node;
  }

  value() {
    const start = this.offset;
    const letter = this.text[start];
    if (letter === undefined) this.fail("the text ends too early");
    if (letter === "{" || letter === "[") return this.nested(letter);
    if (letter === '"') return { start, value: JSON.parse(this.stringText()), end: this.offset };
    if (letter === "“" || letter === "”") this.fail('curly quotes are not allowed: use "');
    const word = this.match(scalar);
    if (word === null) this.fail("a value is missing here");
    return { start, value: JSON.parse(word), end: this.offset };
  }

  stringText() {
    const found = this.match(string);
    if (found === null) this.fail("this string does not end, or has a character that must be escaped");
    return found;
  }

  nested(opening) {
    this.depth += 1;
    if (this.depth > deepest) this.fail("this is nested too deeply");
    const node = opening === "{" ? this.object() : this.array();
    this.depth -= 1;
    return node;
  }

  object() {
    const node = { start: this.offset, members: [], value: {} };
    this.list("}", () => {
      const start = this.offset;
      if (this.text[start] !== '"') this.fail("a key in quotes is missing here");
      const key = JSON.parse(this.stringText());
      this.skipBlanks();
      if (this.text[this.offset] !== ":") this.fail("a colon is missing here");
      this.offset += 1;
      this.skipBlanks();
      const child = this.value();
      node.members.push({ key, start, node: child });
      Object.defineProperty(node.value, key, { value: child.value, enumerable: true, configurable: true });
    });
    return { ...node, end: this.offset };
  }

  array() {
    const node = { start: this.offset, items: [], value: [] };
    this.list("]", () => {
      const child = this.value();
      node.items.push(child);
      node.value.push(child.value);
    });
    return { ...node, end: this.offset };
  }

  /** Elements with commas between them, up to the closing character. */
  list(closing, element) {
    this.offset += 1;
    this.skipBlanks();
    if (this.text[this.offset] === closing) {
      this.offset += 1;
      return;
    }
    for (;;) {
      element();
      this.skipBlanks();
      const letter = this.text[this.offset];
      if (letter !== "," && letter !== closing) this.fail(`a comma or ${closing} is missing here`);
      this.offset += 1;
      if (letter === closing) return;
      this.skipBlanks();
    }
  }
}

const childOf = (node, key) =>
  typeof key === "number" ? node?.items?.[key] : node?.members?.find((member) => member.key === key)?.node;

/** The node at a path of keys and indices, or undefined. */
export function nodeAt(root, path) {
  return path.reduce(childOf, root);
}

/** The value at a path, or undefined. The text must be JSON. */
export function get(text, path) {
  return nodeAt(parse(text), path)?.value;
}

/** The text with this value at a path. Objects and lists that are missing on the way are made. */
export function set(text, path, value) {
  if (text.trim() === "") return `${JSON.stringify(nestedValue(path, value), null, 2)}\n`;
  let node = parse(text);
  for (const [index, key] of path.entries()) {
    const child = childOf(node, key);
    const wanted = path[index + 1];
    const rest = nestedValue(path.slice(index + 1), value);
    if (!child) return insert(text, node, key, rest);
    const goesOn = wanted === undefined ? false : typeof wanted === "number" ? child.items : child.members;
    if (!goesOn) return text.slice(0, child.start) + written(rest, indentOf(text, child.start)) + text.slice(child.end);
    node = child;
  }
  return text;
}

/** The text without the value at a path, and without the comma that belongs to it. */
export function remove(text, path) {
  const parent = nodeAt(parse(text), path.slice(0, -1));
  const list = parent?.members ?? parent?.items ?? [];
  const last = path.at(-1);
  const index = parent?.members ? list.findIndex(({ key }) => key === last) : last;
  if (!list[index]) return text;
  const start = (position) => list[position].start;
  const end = (position) => (list[position].node ?? list[position]).end;
  if (list.length === 1) return text.slice(0, parent.start + 1) + text.slice(parent.end - 1);
  if (index > 0) return text.slice(0, end(index - 1)) + text.slice(end(index));
  return text.slice(0, start(0)) + text.slice(start(1));
}

function nestedValue(path, value) {
  return path.reduceRight((inner, key) => (typeof key === "number" ? [inner] : { [key]: inner }), value);
}

function indentOf(text, offset) {
  return text.slice(text.lastIndexOf("\n", offset - 1) + 1).match(/^[ \t]*/)[0];
}

function written(value, indent) {
  const flat = JSON.stringify(value);
  // Short values stay on their line, as in the documents.
  if (typeof value !== "object" || flat.length < 60) return spaced(value);
  return JSON.stringify(value, null, 2).replaceAll("\n", `\n${indent}`);
}

function spaced(value) {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${spaced(inner)}`).join(", ")}}`;
}

function insert(text, parent, key, value) {
  const list = parent.members ?? parent.items;
  if (!list) return text;
  const outer = indentOf(text, parent.start);
  const isSpread = list.length > 0 && text.slice(parent.start, list[0].start).includes("\n");
  const indent = isSpread ? indentOf(text, list[0].start) : `${outer}  `;
  const name = parent.members ? `${JSON.stringify(key)}: ` : "";
  const member = name + written(value, indent);
  if (list.length === 0) {
    return `${text.slice(0, parent.start + 1)}\n${indent}${member}\n${outer}${text.slice(parent.end - 1)}`;
  }
  const last = list.at(-1);
  const end = (last.node ?? last).end;
  return text.slice(0, end) + (isSpread ? `,\n${indent}` : ", ") + member + text.slice(end);
}
