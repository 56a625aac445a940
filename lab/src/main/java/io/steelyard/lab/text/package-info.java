/** The fixed texts that prompts and parity checks are cut from. */
package io.steelyard.lab.text;
