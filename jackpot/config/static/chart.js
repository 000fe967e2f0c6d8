/* A meter over its last rounds: <div class="chart" data-series="id of a JSON script"> with {at: [seconds], cents: [...], hits: [[at, text], ...], zone}. */
(function () {
  "use strict";
  function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
  function dollars(cents) { return "$" + (cents / 100).toLocaleString("en-US", {minimumFractionDigits: 2, maximumFractionDigits: 2}); }
  function short(cents) { return "$" + (cents / 100).toLocaleString("en-US", {maximumFractionDigits: 0}); }
  function draw(box) {
    var series = JSON.parse(document.getElementById(box.dataset.series).textContent);
    box.textContent = "";
    if (series.at.length < 2) { box.textContent = "Not enough rounds yet for a line."; box.classList.add("muted"); return; }
    var ink = colour("--quiet"), grid = {stroke: colour("--line-soft"), width: 1}, axis = {stroke: ink, grid: grid, ticks: grid, font: "11px system-ui, sans-serif"};
    var chart = new uPlot({
      width: box.clientWidth, height: box.clientHeight - 24,
      tzDate: function (at) { return uPlot.tzDate(new Date(at * 1000), series.zone); },
      cursor: {y: false, points: {size: 6}},
      axes: [Object.assign({}, axis, {space: 70, values: "{HH}:{mm}"}), Object.assign({}, axis, {size: 74, values: function (u, ticks) { return ticks.map(short); }})],
      series: [
        {label: "time", value: "{YYYY}-{MM}-{DD} {HH}:{mm}:{ss}"},
        {label: box.dataset.label || "meter", stroke: colour("--accent"), width: 1.5, paths: uPlot.paths.stepped({align: 1}), points: {show: false}, value: function (u, v) { return v == null ? "" : dollars(v); }}
      ],
      hooks: {draw: [function (u) {
        var pen = u.ctx;
        pen.save(); pen.strokeStyle = colour("--warn"); pen.fillStyle = colour("--warn"); pen.lineWidth = devicePixelRatio; pen.font = 10 * devicePixelRatio + "px system-ui, sans-serif";
        (series.hits || []).forEach(function (hit) {
          var x = Math.round(u.valToPos(hit[0], "x", true));
          if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) { return; }
          pen.beginPath(); pen.moveTo(x, u.bbox.top); pen.lineTo(x, u.bbox.top + u.bbox.height); pen.stroke();
        });
        pen.restore();
      }]}
    }, [series.at, series.cents], box);
    box.chart = chart;
  }
  function all() { document.querySelectorAll(".chart[data-series]").forEach(draw); }
  var waiting;
  window.addEventListener("resize", function () { clearTimeout(waiting); waiting = setTimeout(all, 150); });
  document.addEventListener("themechange", all);
  all();
})();
