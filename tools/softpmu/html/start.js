// SPDX-License-Identifier: MIT
// start.js: the last file of the script.
"use strict";

start();
