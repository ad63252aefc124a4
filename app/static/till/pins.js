// The rules of a PIN. Pure.

/** Why a PIN is refused, null where it is fine: 4 to 6 digits, not one digit again and again, no row, no year. */
export function problemOfPin(pin) {
  if (!/^\d{4,6}$/.test(pin)) return "A PIN has 4 to 6 digits.";
  if (/^(\d)\1*$/.test(pin)) return "A PIN of one digit is guessed at once. Choose another.";
  if (isRow(pin, 1) || isRow(pin, -1)) return "Digits in a row are guessed at once. Choose another.";
  const isRepeated = /^(\d\d)\1+$/.test(pin) || /^(\d\d\d)\1$/.test(pin);
  if (isRepeated) return "A PIN that repeats itself is guessed soon. Choose another.";
  if (/^(?:19|20)\d\d$/.test(pin)) return "A year is guessed soon. Choose another.";
  return null;
}

function isRow(pin, step) {
  return [...pin].every((digit, place) => !place || Number(digit) === (Number(pin[place - 1]) + step + 10) % 10);
}
