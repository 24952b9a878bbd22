// The camera's interface over HTTP: docs/reference/api. Every failure is an `APIError` with words for people.

const root = "api/v1/";

/** Names that the page itself gives; all others are the camera's. */
export const noAnswer = "noAnswer";
export const unpaired = "unpaired";

export class APIError extends Error {
  /**
   * @param status 0 if there was no answer
   * @param name of the refusal
   * @param words for people
   * @param body the whole answer, if it was JSON
   */
  constructor(status, name, words, body = {}) {
    super(words);
    this.status = status;
    this.name = name;
    this.body = body;
  }
}

const wordsOfStatus = {
  401: "This browser is not paired with the camera.",
  429: "Too many attempts. Wait a minute, then try again.",
};

/** The error for an answer that is not a success. Exported for tests. */
export function errorOf(status, text) {
  let body = {};
  try {
    body = JSON.parse(text) ?? {};
  } catch {
    // A proxy's page, or an answer that was cut off: its status is all that is known.
  }
  const words = body.text || wordsOfStatus[status] || `The camera answered with an error (HTTP ${status}).`;
  return new APIError(status, status === 401 ? unpaired : body.error || `http${status}`, words, body);
}

/** Tells the rest of the page: `unpaired` when the key no longer counts. */
export const signals = new EventTarget();

/**
 * One request.
 * @param options `method`, `headers`, `text` (body), `as` ("json", "text" or "blob"), `seconds` until it is given up
 * @returns { value, etag }
 */
export async function request(path, options = {}) {
  const { method = "GET", headers = {}, text, as = "json", seconds = 12 } = options;
  let answer, value;
  try {
    answer = await fetch(root + path, {
      method, headers, body: text, cache: "no-store", credentials: "same-origin", redirect: "error",
      signal: AbortSignal.timeout(seconds * 1000),
    });
    value = answer.ok && as === "blob" ? await answer.blob() : await answer.text();
  } catch (cause) {
    const words = cause.name === "TimeoutError" ? `The camera has not answered for ${seconds} s.` : "The camera does not answer.";
    throw new APIError(0, noAnswer, words);
  }
  if (!answer.ok) {
    const error = errorOf(answer.status, value);
    if (error.name === unpaired) signals.dispatchEvent(new Event(unpaired));
    throw error;
  }
  return { value: as === "json" ? parsed(value, answer.status) : value, etag: answer.headers.get("ETag") };
}

function parsed(text, status) {
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new APIError(status, "notJSON", "The camera's answer cannot be read.");
  }
}

const json = { "Content-Type": "application/json" };

export const get = async (path, options) => (await request(path, options)).value;
export const post = async (path, body) =>
  (await request(path, { method: "POST", headers: json, text: JSON.stringify(body ?? {}) })).value;
export const remove = async (path) => (await request(path, { method: "DELETE" })).value;

/** One console command. @returns its lines */
export async function command(line, options = {}) {
  const text = JSON.stringify({ command: line });
  const { value } = await request("commands", { method: "POST", headers: json, text, ...options });
  return value?.lines ?? [];
}

/** A WebSocket of the interface. */
export function socket(path) {
  const url = new URL(root + path, location.href);
  url.protocol = url.protocol.replace("http", "ws");
  const opened = new WebSocket(url);
  opened.binaryType = "arraybuffer";
  return opened;
}
