// Improvements of the pages. All pages work without JavaScript.
"use strict";

for (const button of document.querySelectorAll("button[data-shows]")) {
  const input = document.getElementById(button.dataset.shows);
  const show = button.textContent;
  const showLabel = button.getAttribute("aria-label");
  const setVisible = (isVisible) => {
    input.type = isVisible ? "text" : "password";
    button.textContent = isVisible ? button.dataset.hide : show;
    button.setAttribute("aria-label", isVisible ? button.dataset.hideLabel : showLabel);
  };
  button.hidden = false;
  button.addEventListener("click", () => setVisible(input.type === "password"));
  // Browsers remember the values of text fields, so the input becomes a password field again before the form is sent.
  input.form.addEventListener("submit", () => setVisible(false));
}

// A second tap does not send a form twice. After the back button the form can be sent again.
for (const form of document.querySelectorAll('form[method="post"]')) {
  let sent = false;
  form.addEventListener("submit", (event) => {
    if (sent) event.preventDefault();
    sent = true;
  });
  window.addEventListener("pageshow", () => { sent = false; });
}

// A list that changes while a person looks at it. It waits while they use it or look at another window.
for (const list of document.querySelectorAll("[data-refresh-seconds]")) {
  setInterval(async () => {
    if (document.hidden || list.contains(document.activeElement)) return;
    const response = await fetch(location.href).catch(() => null);
    if (!response?.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.querySelector("[data-refresh-seconds]");
    if (fresh && fresh.innerHTML !== list.innerHTML) list.innerHTML = fresh.innerHTML;
  }, list.dataset.refreshSeconds * 1000);
}
