/* A meter over its last events: <div class="chart" data-series="id of a JSON script"> with {sequence, at (seconds), cents,
   zone, words}. Where [data-charts] names an address, every chart on the page is read anew from it as rounds are settled. */
(function () {
  "use strict";
  function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
  function dollars(cents) { return "$" + (cents / 100).toLocaleString("en-US", {minimumFractionDigits: 2, maximumFractionDigits: 2}); }
  function put(box, series) {
    box.series = series;
    var said = document.querySelector('[data-words="' + CSS.escape(box.dataset.series) + '"]');
    if (said && said.textContent !== series.words) { said.textContent = series.words; }
    if (box.chart && series.cents.length > 1) { box.chart.setData([series.sequence, series.cents]); } else { draw(box); }
  }
  function draw(box) {
    var series = box.series = box.series || JSON.parse(document.getElementById(box.dataset.series).textContent);
    box.textContent = "";
    box.chart = null;
    box.hidden = series.cents.length < 2;  // the words below say why there is no line
    if (box.hidden) { return; }
    function short(cents) {
      var all = box.series.cents, places = Math.max.apply(null, all) - Math.min.apply(null, all) < 2000 ? 2 : 0;
      return "$" + (cents / 100).toLocaleString("en-US", {minimumFractionDigits: places, maximumFractionDigits: places});
    }
    var when = new Intl.DateTimeFormat("en-GB", {month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZone: series.zone});
    var grid = {stroke: colour("--line-soft"), width: 1}, axis = {stroke: colour("--quiet"), grid: grid, ticks: grid, font: "11px system-ui, sans-serif"};
    box.chart = new uPlot({
      width: box.clientWidth - 24, height: box.clientHeight - 30,
      cursor: {y: false, points: {size: 6}},
      scales: {x: {time: false}},
      axes: [Object.assign({}, axis, {space: 70, size: 26}), Object.assign({}, axis, {size: 78, space: 26, values: function (u, ticks) { return ticks.map(short); }})],
      series: [
        {label: "event", value: function (u, v, s, i) { var now = box.series, at = v == null ? now.at.length - 1 : i; return now.sequence[at].toLocaleString("en-US") + ", " + when.format(new Date(now.at[at] * 1000)); }},
        {label: box.dataset.label || "meter", stroke: colour("--accent"), width: 1.5, paths: uPlot.paths.stepped({align: 1}), points: {show: false}, value: function (u, v) { var all = box.series.cents; return dollars(v == null ? all[all.length - 1] : v); }}
      ]
    }, [series.sequence, series.cents], box);
  }
  function each(work) { document.querySelectorAll(".chart[data-series]").forEach(work); }
  function all() { each(draw); }
  var waiting;
  window.addEventListener("resize", function () { clearTimeout(waiting); waiting = setTimeout(all, 150); });
  document.addEventListener("themechange", all);
  all();

  var source = document.querySelector("[data-charts]"), reading = false, again = false;
  function read() {
    if (reading) { again = true; return; }
    reading = true;
    fetch(source.dataset.charts, {headers: {"Accept": "application/json"}}).then(function (answer) {
      return answer.ok && !answer.redirected ? answer.json() : {};
    }).then(function (found) {
      each(function (box) { if (found[box.dataset.series]) { put(box, found[box.dataset.series]); } });
    }).catch(function () { /* the page says by itself that it is stale */ }).then(function () {
      setTimeout(function () { reading = false; if (again) { again = false; read(); } }, 1000);
    });
  }
  if (source) { document.body.addEventListener("fresh", read); }
})();
