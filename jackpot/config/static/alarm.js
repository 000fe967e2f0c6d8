/* What the floor must not miss: [data-alarms] names what stands there now. Something new is told once, and sounds where
   somebody switched that on in this browser: it is off until then. */
(function () {
  "use strict";
  var button = document.getElementById("sound"), told = document.querySelector("[data-alarm-news]"), known = null, player = null;
  function on() { try { return localStorage.getItem("sound") === "on"; } catch (e) { return false; } }
  function name() {
    if (!button) { return; }
    button.hidden = false;
    button.setAttribute("aria-pressed", String(on()));
    button.textContent = on() ? "Sound on" : "Sound off";
  }
  function sound() {
    if (!on() || !window.AudioContext) { return; }
    player = player || new AudioContext();
    [0, 0.25, 0.5].forEach(function (wait) {
      var tone = player.createOscillator(), loud = player.createGain(), at = player.currentTime + wait;
      tone.frequency.value = 880;
      loud.gain.setValueAtTime(0.2, at);
      loud.gain.exponentialRampToValueAtTime(0.001, at + 0.2);
      tone.connect(loud).connect(player.destination);
      tone.start(at);
      tone.stop(at + 0.22);
    });
  }
  function look() {
    var list = document.querySelector("[data-alarms]");
    var now = list ? list.dataset.alarms.split(" ").filter(Boolean) : [];
    if (known !== null) {
      var fresh = now.filter(function (alarm) { return known.indexOf(alarm) < 0; });
      if (fresh.length) {
        if (told) { told.textContent = Array.prototype.map.call(list.querySelectorAll("li"), function (line) { return line.textContent.trim(); }).join("; "); }
        sound();
      }
    }
    known = now;
  }
  if (button) {
    button.addEventListener("click", function () {
      try { localStorage.setItem("sound", on() ? "off" : "on"); } catch (e) { return; }
      name();
      sound();
    });
  }
  name();
  look();
  document.body.addEventListener("htmx:afterSettle", look);
})();
