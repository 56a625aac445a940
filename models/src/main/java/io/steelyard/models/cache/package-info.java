/** Keys and values that a session has computed. */
package io.steelyard.models.cache;
