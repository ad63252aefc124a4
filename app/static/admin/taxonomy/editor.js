// The taxonomy editor: its tree, its panel, and the requests that change its draft.
import "../page.js";
import "../row_drag.js";
import "../tree/drag.js";
import "./keys.js";
import "./answers.js";
import "./order.js";
