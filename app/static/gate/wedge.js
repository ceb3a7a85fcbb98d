// Hardware scanners that type: a burst of keys that ends with Enter, wherever the focus is but in a field.

const PAUSE_MILLISECONDS = 1000;
const MIN_LENGTH = 4;

/** Call `act` with each code that a scanner types. @param {(code: string) => void} act */
export function listenToWedge(act) {
  let text = "";
  let lastAt = 0;
  document.addEventListener("keydown", (event) => {
    const { target, key, timeStamp } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (/** @type {HTMLElement} */ (target).matches("input:not([type=radio], [type=checkbox]), textarea")) return;
    if (timeStamp - lastAt > PAUSE_MILLISECONDS) text = "";
    lastAt = timeStamp;
    if (key.length === 1) text += key;
    if (key !== "Enter" || text.length < MIN_LENGTH) return;
    event.preventDefault();
    act(text);
    text = "";
  });
}
