// Makes elements. The page has no templates and never sets HTML from text.

const properties = new Set(["value", "checked", "disabled", "hidden", "open", "muted", "playsInline", "autoplay"]);
const svgNamespace = "http://www.w3.org/2000/svg";
let lastNumber = 0;

/** An id that no other element of the page has. */
export function freshID(name) {
  lastNumber += 1;
  return `${name}-${lastNumber}`;
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (properties.has(name)) element[name] = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, value);
  }
  append(element, children);
  return element;
}

function append(element, children) {
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
}

/** `el("button", { class: "quiet", onclick: stop }, "Stop")`; attributes that are null or false are left out. */
export function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(svgNamespace, name), attributes, children);
}

export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/** Text that stays the same keeps a selection, and a screen reader's place. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function button(text, onclick, attributes = {}) {
  return el("button", { type: "button", onclick, ...attributes }, text);
}

/** A labeled input. `help` is read out with it. */
export function field(label, input, help) {
  input.id ||= freshID("field");
  const parts = [el("label", { for: input.id }, label), input];
  if (help) {
    const id = freshID("help");
    input.setAttribute("aria-describedby", id);
    parts.push(el("p", { class: "help", id }, help));
  }
  return el("div", { class: "field" }, parts);
}

/** An on/off switch with its label on the left. */
export function switchField(label, isOn, changed, attributes = {}) {
  const id = freshID("switch");
  const input = el("input", {
    type: "checkbox", role: "switch", id, checked: isOn, ...attributes, onchange: () => changed(input.checked),
  });
  const row = el("div", { class: "switch" }, el("label", { for: id }, label), input);
  return { row, input };
}

/** A select with `[value, words]` pairs. A value that is not among them is added. */
export function select(choices, value, changed, attributes = {}) {
  const known = choices.some(([choice]) => choice === value);
  const all = known || value === undefined ? choices : [...choices, [value, value]];
  const options = all.map(([choice, words]) => el("option", { value: choice }, words));
  const element = el("select", { ...attributes, onchange: () => changed(element.value) }, options);
  if (value !== undefined) element.value = value;
  return element;
}

/** A card with a heading, named by it. */
export function section(title, ...children) {
  const id = freshID("title");
  return el("section", { class: "card", "aria-labelledby": id }, el("h2", { id }, title), children);
}

/** Runs an asynchronous action while its button is disabled, so that nothing is sent twice. */
export async function whileDisabled(control, action) {
  if (control.getAttribute("aria-disabled") === "true") return undefined;
  // Not `disabled`: that would drop the keyboard's focus.
  control.setAttribute("aria-disabled", "true");
  try {
    return await action();
  } finally {
    control.removeAttribute("aria-disabled");
  }
}
