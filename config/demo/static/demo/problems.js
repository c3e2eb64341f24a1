// Shows problem documents: errors at the fields that they name, the rest in the message at the top.

import { Problem } from "./api.js";
import { byId, element } from "./dom.js";

export function showProblem(error, form) {
    const problem = error instanceof Problem ? error.document : mistake(error);
    const errors = problem.errors ?? [];
    const rest = errors.filter((each) => !markField(form, each));
    if (rest.length || !errors.length) showMessage(problem, rest);
    (form?.querySelector?.("[aria-invalid]") ?? byId("message")).focus();
}

export function clearProblem(form) {
    byId("message").replaceChildren();
    for (const note of form?.querySelectorAll?.(".error") ?? []) note.remove();
    for (const field of form?.querySelectorAll?.("[aria-invalid]") ?? []) {
        field.removeAttribute("aria-invalid");
        field.removeAttribute("aria-errormessage");
    }
}

// Show the error at the form's field, and tell whether there is one: `shipping_address.zip` matches `zip`.
function markField(form, { field, detail }) {
    const input = form?.elements?.namedItem(field.split(".").at(-1));
    if (!(input instanceof HTMLElement) || !input.labels?.length) return false;
    const note = element("span", { className: "error", id: `${form.id}-${input.name}-error`, textContent: detail });
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-errormessage", note.id);
    // Beside the label: inside it, the error would become part of the field's accessible name.
    (input.closest(".field") ?? form).append(note);
    return true;
}

function mistake(error) {
    console.error(error);
    return { title: "This page has made a mistake. Load it again.", code: error.name };
}

function showMessage(problem, errors) {
    const lines = [
        problem.detail || problem.title,
        ...errors.map(({ field, detail }) => `${field}: ${detail}`),
        ...(problem.items ?? []).map(({ requested, available }) => `${requested} asked for, ${available} left.`),
    ];
    byId("message").replaceChildren(
        ...lines.map((line) => element("p", { textContent: line })),
        element("code", { textContent: problem.code ?? "" }),
    );
}
