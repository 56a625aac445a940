/** Several tokens a pass: drafts of what may come next, and their verification. */
package io.steelyard.models.speculation;
