// Moves between the cells of a grid by keyboard, marks changed cells, and pastes tables from spreadsheets.
// Without it the grid is an ordinary form.

"use strict";

for (const grid of document.querySelectorAll("[data-grid]")) {
    const rows = [...grid.querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll("td")].map((cell) => cell.querySelector(".grid-input")));
    const inputs = rows.flat().filter(Boolean);
    const count = grid.querySelector("[data-grid-count]");

    const find = (input) => {
        const row = rows.findIndex((cells) => cells.includes(input));
        return [row, rows[row].indexOf(input)];
    };

    const mark = (input) => {
        input.toggleAttribute("data-changed", input.value.trim() !== input.dataset.stored);
    };

    const tell = () => {
        const changed = inputs.filter((input) => input.hasAttribute("data-changed")).length;
        const text = changed === 0 ? count.dataset.none : changed === 1 ? count.dataset.one : count.dataset.many;
        count.textContent = text.replace("{count}", changed);
    };

    const move = (input, down) => {
        const [row, column] = find(input);
        for (let next = row + down; rows[next]; next += down) {
            if (rows[next][column]) {
                rows[next][column].focus();
                rows[next][column].select();
                return;
            }
        }
    };

    grid.addEventListener("input", (event) => {
        if (inputs.includes(event.target)) {
            mark(event.target);
            tell();
        }
    });

    grid.addEventListener("keydown", (event) => {
        if (!inputs.includes(event.target) || event.ctrlKey || event.metaKey || event.altKey) {
            return;
        }
        if (event.key === "Enter" || event.key === "ArrowDown" || event.key === "ArrowUp") {
            // Enter would send the form, as in any form with a button.
            event.preventDefault();
            move(event.target, event.key === "ArrowUp" || event.shiftKey ? -1 : 1);
        } else if (event.key === "Escape") {
            event.target.value = event.target.dataset.stored;
            mark(event.target);
            tell();
        }
    });

    grid.addEventListener("paste", (event) => {
        const text = event.clipboardData.getData("text").replace(/\r/g, "").replace(/\n$/, "");
        // A single value is pasted by the browser.
        if (!inputs.includes(event.target) || !/[\t\n]/.test(text)) {
            return;
        }
        event.preventDefault();
        const [row, column] = find(event.target);
        text.split("\n").forEach((line, down) => {
            line.split("\t").forEach((value, right) => {
                const input = rows[row + down]?.[column + right];
                if (input) {
                    input.value = value.trim();
                    mark(input);
                }
            });
        });
        tell();
    });

    // Another page of the list, or a search, would lose what was typed.
    let isSent = false;
    grid.addEventListener("submit", () => {
        isSent = true;
    });
    window.addEventListener("beforeunload", (event) => {
        if (!isSent && inputs.some((input) => input.hasAttribute("data-changed"))) {
            event.preventDefault();
        }
    });

    if (count) {
        // A form that was refused comes back as it was sent.
        inputs.forEach(mark);
        tell();
    }
}
