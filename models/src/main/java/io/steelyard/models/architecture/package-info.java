/** Model families: what their files must hold, and their forward pass. */
package io.steelyard.models.architecture;
