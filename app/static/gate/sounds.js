// A sound and a vibration for each result: two rising tones for yes, a long low one for no, three short ones for look.

/** @type {Record<string, {tones: [number, number, number][], wave: OscillatorType, vibration: number[]}>} */
const SIGNALS = {
  yes: { wave: "sine", tones: [[880, 0, 0.09], [1320, 0.1, 0.14]], vibration: [60] },
  no: { wave: "sawtooth", tones: [[160, 0, 0.5]], vibration: [400] },
  look: { wave: "triangle", tones: [[520, 0, 0.1], [520, 0.16, 0.1], [520, 0.32, 0.1]], vibration: [100, 60, 100, 60, 100] },
};

/** @type {AudioContext | null} */
let context = null;

/** Allow sound; browsers let a page do this only when the person touches it. */
export function unlockSound() {
  context ??= new AudioContext();
  context.resume();
}

/** @param {"yes" | "no" | "look"} result @param {boolean} isAudible */
export function signal(result, isAudible) {
  const { wave, tones, vibration } = SIGNALS[result];
  navigator.vibrate?.(vibration);
  if (!isAudible || context?.state !== "running") return;
  for (const [pitch, after, seconds] of tones) {
    const tone = new OscillatorNode(context, { type: wave, frequency: pitch });
    const volume = new GainNode(context, { gain: 0.3 });
    tone.connect(volume).connect(context.destination);
    tone.start(context.currentTime + after);
    tone.stop(context.currentTime + after + seconds);
  }
}
