// Improvements of the pages. All pages work without JavaScript.
"use strict";

for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("button[data-shows]"))) {
  const input = document.getElementById(button.dataset.shows ?? "");
  if (!(input instanceof HTMLInputElement)) continue;
  const show = button.textContent;
  const showLabel = button.getAttribute("aria-label") ?? "";
  /** @param {boolean} isVisible */
  const setVisible = (isVisible) => {
    input.type = isVisible ? "text" : "password";
    button.textContent = isVisible ? button.dataset.hide ?? "" : show;
    button.setAttribute("aria-label", isVisible ? button.dataset.hideLabel ?? "" : showLabel);
  };
  button.hidden = false;
  button.addEventListener("click", () => setVisible(input.type === "password"));
  // Browsers remember the values of text fields, so the input becomes a password field again before the form is sent.
  input.form?.addEventListener("submit", () => setVisible(false));
}

// A second tap does not send a form twice. After the back button the form can be sent again.
/** @type {Set<EventTarget | null>} */
const sent = new Set();
document.addEventListener("submit", (event) => {
  if (!(event.target instanceof HTMLFormElement) || event.target.method !== "post") return;
  if (sent.has(event.target)) event.preventDefault();
  sent.add(event.target);
});
window.addEventListener("pageshow", () => sent.clear());

// A link that opens the form anew, in another language or with other texts, asks first if something was typed.
document.addEventListener("click", (event) => {
  const part = event.target instanceof HTMLAnchorElement ? event.target.closest("[data-loses-text]") : null;
  const fields = /** @type {NodeListOf<HTMLInputElement | HTMLTextAreaElement>} */ (document.querySelectorAll("form[method=post] :is(input, textarea)"));
  const isTyped = [...fields].some((field) => field.value !== field.defaultValue);
  if (part instanceof HTMLElement && isTyped && !confirm(part.dataset.losesText)) event.preventDefault();
});

// On a phone the menus of the desk are one line each, which scrolls: the current page is in sight.
for (const link of document.querySelectorAll(".sections [aria-current]")) {
  const list = link.closest("ul");
  if (list && link instanceof HTMLElement) list.scrollLeft = link.offsetLeft - list.clientWidth / 2;
}

// A part of a page that changes while a person looks at it: a list, or the progress of a job. It waits while they use it or
// look at another window, and ends when the new part no longer asks for it. A page with several gives each an id. The answer to a form
// names the address.
/** Whether a person is there, or has typed something that is not sent yet. @param {HTMLElement} part */
const isUsed = (part) => part.contains(document.activeElement) || part.querySelector("details[open]") !== null
  || [...part.querySelectorAll("input")].some((input) => input.value !== input.defaultValue);
for (const part of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-refresh-seconds]"))) {
  const timer = setInterval(async () => {
    if (document.hidden || isUsed(part)) return;
    const response = await fetch(part.dataset.refreshUrl ?? location.href).catch(() => null);
    if (!response?.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = part.id ? page.getElementById(part.id) : page.querySelector("[data-refresh-seconds]");
    if (!(fresh instanceof HTMLElement) || isUsed(part)) return;
    const token = part.querySelector("[name=csrf_token]")?.getAttribute("value");
    if (token) for (const input of fresh.querySelectorAll("[name=csrf_token]")) input.setAttribute("value", token);
    if (fresh.innerHTML !== part.innerHTML) part.innerHTML = fresh.innerHTML;
    if (!fresh.dataset.refreshSeconds) clearInterval(timer);
  }, Number(part.dataset.refreshSeconds) * 1000);
}
