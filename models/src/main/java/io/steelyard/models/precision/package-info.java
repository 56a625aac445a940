/** The same model in another precision. */
package io.steelyard.models.precision;
