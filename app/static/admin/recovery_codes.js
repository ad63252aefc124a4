// Recovery codes can be copied and printed.
import "./copying.js";
import "./printing.js";
