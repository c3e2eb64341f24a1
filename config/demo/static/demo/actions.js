// Runs a visitor's actions one after another, so that requests of one page never overtake each other.

import { Problem } from "./api.js";
import { clearProblem, showProblem } from "./problems.js";
import { reload } from "./session.js";

// Longer than a double click.
const PAUSE_MS = 400;
const CHANGED_ELSEWHERE = [404, 409];

let queue = Promise.resolve();

// Run the task after all earlier ones. Problems are shown at the form, or at the top of the page.
export function enqueue(form, task) {
    queue = queue.then(() => attempt(form, task));
    return queue;
}

// The same for a form or a button, which ignores further clicks while the task runs and for a moment after.
export async function once(trigger, task) {
    if (trigger.dataset.busy) return;
    const button = trigger.matches("form") ? trigger.querySelector("button:not([type=button])") : trigger;
    trigger.dataset.busy = "true";
    button.setAttribute("aria-busy", "true");
    const form = trigger.matches("form") ? trigger : null;
    await Promise.all([enqueue(form, task), new Promise((resolve) => setTimeout(resolve, PAUSE_MS))]);
    delete trigger.dataset.busy;
    button.removeAttribute("aria-busy");
}

export function onSubmit(form, task) {
    form.addEventListener("submit", () => once(form, task));
}

export function onClick(button, task) {
    button.addEventListener("click", () => once(button, task));
}

async function attempt(form, task) {
    clearProblem(form);
    try {
        await task();
    } catch (error) {
        if (error instanceof Problem && CHANGED_ELSEWHERE.includes(error.status)) await reload().catch(() => {});
        showProblem(error, form);
    }
}
