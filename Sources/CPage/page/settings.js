// Reads the lines of the command `settings`: cameras and filters of a live stream.

/** From "camera front (of front, back)". */
export function camerasOf(lines) {
  for (const line of lines) {
    const match = line.match(/^camera (\S+) \(of (.*)\)$/);
    if (match) return { current: match[1], names: match[2].split(", ") };
  }
  return { current: undefined, names: [] };
}

/** From `filter text,text="Studio, {time}",position=top`: `[{ name, options: Map }]`. */
export function filtersOf(lines) {
  return lines.filter((line) => line.startsWith("filter ")).map((line) => parseFilter(line.slice("filter ".length)));
}

export function parseFilter(text) {
  const pieces = [];
  let piece = "", quote = null;
  for (let index = 0; index < text.length; index += 1) {
    const letter = text[index];
    if (letter === "\\" && [",", '"', "'", "\\"].includes(text[index + 1])) piece += text[++index];
    else if (quote) {
      if (letter === quote) quote = null;
      else piece += letter;
    } else if ((letter === '"' || letter === "'") && (piece === "" || piece.endsWith("="))) quote = letter;
    else if (letter === ",") {
      pieces.push(piece);
      piece = "";
    } else piece += letter;
  }
  pieces.push(piece);
  const [name, ...rest] = pieces;
  const options = new Map();
  let last;
  for (const part of rest) {
    const equals = part.indexOf("=");
    if (equals > 0) {
      last = part.slice(0, equals);
      options.set(last, part.slice(equals + 1));
    } else if (last) {
      // A piece without "=" belongs to the value before it, as in position=0.5,0.1.
      options.set(last, `${options.get(last)},${part}`);
    }
  }
  return { name, options };
}

/** A value for the command `filter`, always in quotes. */
export function quoted(value) {
  return `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}

/** `filter text text="…" size="0.1"`; an empty value restores the default. */
export function filterCommand(name, options) {
  const parts = Object.entries(options).map(([key, value]) => (value === "" ? `${key}=` : `${key}=${quoted(String(value))}`));
  return ["filter", name, ...parts].join(" ");
}
