() => {
  // Every text whose colour stands out too little from its background (WCAG 2: 4.5 to 1, large text 3 to 1).
  const pen = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = (colour) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const part = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] > 250) return colour;
    }
    return [255, 255, 255, 255];
  };
  const weak = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const words = walker.currentNode.textContent.trim();
    const style = getComputedStyle(element);
    if (!words || !element.checkVisibility({visibilityProperty: true}) || element.closest(".digit, .unseen, script, option, .uplot")) continue;
    const [a, b] = [light(rgba(style.color)), light(behind(element))].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (large ? 3 : 4.5)) weak.push(`${words.slice(0, 40)}: ${ratio.toFixed(2)}`);
  }
  return weak;
}
