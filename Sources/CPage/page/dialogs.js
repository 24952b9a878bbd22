// Questions and notices.
import { button, el } from "./dom.js";
import { capitalized } from "./rhythm.js";

/** Asks before something that cannot be undone. @returns whether the reader agreed */
export function confirm(question, verb, otherwise = "Cancel") {
  return new Promise((resolve) => {
    const dialog = el("dialog", { "aria-labelledby": "question", onclose: () => { dialog.remove(); resolve(dialog.returnValue === "yes"); } },
      el("p", { id: "question" }, question),
      el("div", { class: "row" }, button(otherwise, () => dialog.close("no"), { autofocus: true }),
        button(verb, () => dialog.close("yes"), { class: "strong" })));
    document.body.append(dialog);
    dialog.showModal();
  });
}

const shownSeconds = 12;

/** A problem stays until it is closed, all else goes by itself. */
export function notice(words, isProblem) {
  const place = document.getElementById("notices");
  const same = [...place.children].find((item) => item.dataset.words === words);
  same?.remove();
  const item = el("div", { class: isProblem ? "card notice warning" : "card notice", role: isProblem ? "alert" : "status", "data-words": words },
    el("p", {}, capitalized(words)), button("Close", () => item.remove(), { "aria-label": "Close this notice" }));
  place.append(item);
  while (place.children.length > 3) place.firstChild.remove();
  if (!isProblem) setTimeout(() => item.remove(), shownSeconds * 1000);
}

export function save(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
