// Asks before a page with unsaved changes is left, by a link, a key or the browser's own buttons.

"use strict";

const WATCHED = "form[id$='_form'], form[data-asks-before-leaving]";

window.addEventListener("load", () => {
    // After the scripts that fill in inputs of their own.
    setTimeout(() => {
        for (const form of document.querySelectorAll(WATCHED)) {
            watch(form);
        }
    });
});

function watch(form) {
    const read = () => new URLSearchParams(new FormData(form)).toString();
    const stored = read();
    // What was refused, or previewed, comes back as it was sent, and isn't saved.
    const isUnsaved = form.dataset.asksBeforeLeaving === "unsaved" || document.querySelector(".errornote") !== null;
    let isSent = false;
    form.addEventListener("submit", () => {
        isSent = true;
    });
    window.addEventListener("beforeunload", (event) => {
        if (!isSent && (isUnsaved || read() !== stored)) {
            event.preventDefault();
        }
    });
}
