// Improvements of the pages. All pages work without JavaScript.
"use strict";

for (const button of document.querySelectorAll("button[data-shows]")) {
  const input = document.getElementById(button.dataset.shows);
  const setVisible = (isVisible) => {
    input.type = isVisible ? "text" : "password";
    button.textContent = isVisible ? "Hide" : "Show";
    button.setAttribute("aria-label", isVisible ? "Hide password" : "Show password");
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
