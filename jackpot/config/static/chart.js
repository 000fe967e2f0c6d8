/* A meter over its last events: <div class="chart" data-series="id of a JSON script"> with {sequence, at (seconds), cents, zone}. */
(function () {
  "use strict";
  function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
  function dollars(cents) { return "$" + (cents / 100).toLocaleString("en-US", {minimumFractionDigits: 2, maximumFractionDigits: 2}); }
  function draw(box) {
    var series = JSON.parse(document.getElementById(box.dataset.series).textContent);
    box.textContent = "";
    if (series.cents.length < 2) { box.textContent = "Too few contributions yet for a line."; box.classList.add("muted"); return; }
    var spread = Math.max.apply(null, series.cents) - Math.min.apply(null, series.cents);
    function short(cents) { return "$" + (cents / 100).toLocaleString("en-US", {minimumFractionDigits: spread < 2000 ? 2 : 0, maximumFractionDigits: spread < 2000 ? 2 : 0}); }
    var when = new Intl.DateTimeFormat("en-GB", {month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZone: series.zone});
    var grid = {stroke: colour("--line-soft"), width: 1}, axis = {stroke: colour("--quiet"), grid: grid, ticks: grid, font: "11px system-ui, sans-serif"};
    box.chart = new uPlot({
      width: box.clientWidth - 24, height: box.clientHeight - 30,
      cursor: {y: false, points: {size: 6}},
      scales: {x: {time: false}},
      axes: [Object.assign({}, axis, {space: 70, size: 26}), Object.assign({}, axis, {size: 78, space: 26, values: function (u, ticks) { return ticks.map(short); }})],
      series: [
        {label: "event", value: function (u, v, s, i) { var at = v == null ? series.at.length - 1 : i; return series.sequence[at].toLocaleString("en-US") + ", " + when.format(new Date(series.at[at] * 1000)); }},
        {label: box.dataset.label || "meter", stroke: colour("--accent"), width: 1.5, paths: uPlot.paths.stepped({align: 1}), points: {show: false}, value: function (u, v) { return dollars(v == null ? series.cents[series.cents.length - 1] : v); }}
      ]
    }, [series.sequence, series.cents], box);
  }
  function all() { document.querySelectorAll(".chart[data-series]").forEach(draw); }
  var waiting;
  window.addEventListener("resize", function () { clearTimeout(waiting); waiting = setTimeout(all, 150); });
  document.addEventListener("themechange", all);
  all();
})();
