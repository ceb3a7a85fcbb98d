// What pages gain where scripts run. All of them work without.
"use strict";

for (const button of document.querySelectorAll("button[data-shows]")) {
  const input = document.getElementById(button.dataset.shows);
  const show = (shown) => {
    input.type = shown ? "text" : "password";
    button.textContent = shown ? "Hide" : "Show";
    button.setAttribute("aria-label", shown ? "Hide password" : "Show password");
  };
  button.hidden = false;
  button.addEventListener("click", () => show(input.type === "password"));
  // Browsers remember what stands in a text field, so it is a password again before it is sent.
  input.form.addEventListener("submit", () => show(false));
}

// A second tap does not send a form twice; coming back by the back button, it can be sent again.
for (const form of document.querySelectorAll('form[method="post"]')) {
  let sent = false;
  form.addEventListener("submit", (event) => {
    if (sent) event.preventDefault();
    sent = true;
  });
  window.addEventListener("pageshow", () => { sent = false; });
}
