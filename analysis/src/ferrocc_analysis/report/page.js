(function () {
  "use strict";
  var paper = document.getElementById("by-paper");
  var outcome = document.getElementById("by-outcome");
  var shown = document.getElementById("shown");
  function apply() {
    var count = 0, all = 0;
    document.querySelectorAll("#overview [data-paper], #claims [data-paper]").forEach(function (e) {
      var fits = (!paper.value || e.dataset.paper === paper.value) &&
        (!outcome.value || e.dataset.outcome === outcome.value);
      e.classList.toggle("away", !fits);
      if (e.tagName === "TR" || e.tagName === "LI") { all += 1; count += fits ? 1 : 0; }
    });
    shown.textContent = count === all ? "" : count + " of " + all + " claims";
  }
  paper.addEventListener("change", apply);
  outcome.addEventListener("change", apply);
  document.getElementById("filters").hidden = false;
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (d) { d.open = true; });
  });
  apply();
})();
