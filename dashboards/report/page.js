"use strict";
// Draws every figure of the page in the reader's colours, keeps all time axes on the same range, and moves one cursor
// over all of them.
(function () {
  const charts = Array.from(document.querySelectorAll(".chart"));
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const config = { displayModeBar: false, responsive: true, doubleClick: "reset" };

  function colours() {
    const ink = dark.matches ? "#e4e8ef" : "#1d2430";
    const line = dark.matches ? "#2c323d" : "#dfe3ea";
    const panel = dark.matches ? "#1b2029" : "#ffffff";
    return {
      "font.color": ink,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      "xaxis.gridcolor": line,
      "yaxis.gridcolor": line,
      "xaxis.linecolor": line,
      "yaxis.zerolinecolor": line,
      "hoverlabel.bgcolor": panel,
      "hoverlabel.font.color": ink,
    };
  }

  function spread(layout) {
    for (const [path, value] of Object.entries(colours())) {
      const keys = path.split(".");
      let at = layout;
      for (const key of keys.slice(0, -1)) at = at[key] = at[key] || {};
      at[keys[keys.length - 1]] = value;
    }
    return layout;
  }

  function sameRange(source, change) {
    const from = change["xaxis.range[0]"];
    const to = change["xaxis.range[1]"];
    if (from === undefined || to === undefined || source.layout.xaxis.type !== "date") return;
    for (const chart of charts) {
      if (chart === source || chart.layout.xaxis.type !== "date") continue;
      const range = chart.layout.xaxis.range;
      if (range[0] !== from || range[1] !== to) Plotly.relayout(chart, { "xaxis.range": [from, to] });
    }
  }

  function follow(event) {
    const box = event.currentTarget.getBoundingClientRect();
    for (const chart of charts) {
      const cursor = chart.parentElement.querySelector(".cursor");
      cursor.style.display = event.type === "mouseleave" ? "none" : "block";
      cursor.style.left = event.clientX - box.left + "px";
    }
  }

  async function draw() {
    for (const chart of charts) {
      const figure = JSON.parse(document.getElementById(chart.dataset.figure).textContent);
      await Plotly.newPlot(chart, figure.data, spread(figure.layout), config);
      chart.on("plotly_relayout", (change) => sameRange(chart, change));
      chart.addEventListener("mousemove", follow);
      chart.addEventListener("mouseleave", follow);
    }
    document.body.dataset.drawn = String(charts.length);
  }

  dark.addEventListener("change", () => charts.forEach((chart) => Plotly.relayout(chart, colours())));
  draw();
})();
