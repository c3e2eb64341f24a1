const place = document.getElementById("reference");
const font = "system-ui, sans-serif";
const code = "ui-monospace, monospace";

Redoc.init(
  place.dataset.document,
  {
    hideDownloadButton: true,
    jsonSampleExpandLevel: 3,
    scrollYOffset: "header",
    sortRequiredPropsFirst: true,
    theme: {
      colors: { primary: { main: "#00796b" } },
      typography: {
        fontFamily: font,
        headings: { fontFamily: font },
        code: { fontFamily: code },
      },
    },
  },
  place,
);
